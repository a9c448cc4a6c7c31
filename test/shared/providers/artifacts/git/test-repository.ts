import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { type CloneLimits, cloneLimits } from '#providers/artifacts/git/clone-limits.ts';
import type { GitTransport } from '#providers/artifacts/git/refs.ts';
import { readRepository } from '#providers/artifacts/git/repository.ts';
import {
  packTypes,
  toObjectId,
  type WrittenEntry,
  writeCommit,
  writePack,
  writePackAnswer,
  writeRefs,
  writeTree,
} from '#test/support/artifacts/git-packs.ts';
import { neverAborted, readBytes } from '../options.ts';

/** A tree of one folder, by the mode, name and object of what is in it. */
export type WrittenTree = readonly (readonly [mode: string, name: string, entry: WrittenEntry])[];

/** A blob of a pack. */
export function toBlob(content: string | Uint8Array): WrittenEntry {
  return { type: packTypes.blob, content: Buffer.from(content) };
}

/** A tree of a pack. */
export function toTree(tree: WrittenTree): WrittenEntry {
  const entries = tree.map(([mode, name, { type, content }]) => ({
    mode,
    name,
    id: toObjectId(type, content),
  }));
  return { type: packTypes.tree, content: writeTree(entries) };
}

/** The id of the commit of a tree, and the commit. */
export function toCommit({ content }: WrittenEntry) {
  const commit = writeCommit(toObjectId(packTypes.tree, content));
  return {
    tip: toObjectId(packTypes.commit, commit).toString('hex'),
    entry: { type: packTypes.commit, content: commit },
  };
}

/** A server of a repository with one branch, whose pack is what it is given. */
export function serve(tip: string, pack: Uint8Array): GitTransport {
  return {
    advertise: async () => sendPieces(writeRefs(tip)),
    request: async () => sendPieces(writePackAnswer(pack)),
  };
}

/** A server of a repository with one tree, and whatever else stands in its pack. */
export function serveTree(tree: WrittenEntry, others: readonly WrittenEntry[]): GitTransport {
  const { tip, entry } = toCommit(tree);
  return serve(tip, writePack([entry, tree, ...others]));
}

/** Bytes in pieces that have nothing to do with what is in them. */
export async function* sendPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_007) yield bytes.subarray(at, at + 10_007);
}

/** Begins to read the branch of a repository. */
export function open(
  transport: GitTransport,
  limits: Partial<CloneLimits> = {},
  { signal = neverAborted(), release = () => {} } = {},
) {
  const options = { account: 'a', limits: { ...cloneLimits, ...limits }, signal, nowMs: Date.now(), release };
  return readRepository(transport, { version: 'master', subPath: '' }, options);
}

/** Reads the branch of a repository. */
export async function read(transport: GitTransport, limits: Partial<CloneLimits> = {}): Promise<Uint8Array> {
  return readBytes(await open(transport, limits));
}

/** Folders of clones that there are. */
export async function listFolders(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('busdriver-git-'));
}

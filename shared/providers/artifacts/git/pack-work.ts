import type { Readable } from 'node:stream';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { CloneFile } from './clone-folder.ts';
import { entryTypes } from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import { type ScannedPack, type ScanOptions, scanPack } from './pack-scan.ts';
import { type ArchivedTree, type ArchiveOptions, archiveTree, checkTree } from './tree-archive.ts';
import { readSmall } from './tree-walk.ts';

/** The file of a pack, and an empty one. */
interface PackFiles {
  readonly pack: CloneFile;
  readonly unpacked: CloneFile;
}

/** The wanted tree of a pack. */
export interface WantedTree {
  /** Id of a commit or tag, in hexadecimal digits; its first ones suffice if `isSought`. */
  readonly commit: string;
  /** Whether the pack may lack it, since it was not requested by itself. */
  readonly isSought: boolean;
  /** Names on the path to the wanted folder or file; empty for everything. */
  readonly subPath: readonly string[];
}

/** Largest commit or tag, in bytes. */
const commitBytesMax = 2 ** 20;

/** The longest chain of tags. */
const tagsMax = 10;

const idLength = 40;

/**
 * The commit of a pack whose id begins with `start`.
 *
 * @throws NotFoundError if there is none, InvalidInputError if there are several, and what `scanPack` throws.
 */
export async function findCommit(files: PackFiles, start: string, options: ScanOptions): Promise<string> {
  return seekCommit(await scanPack(files, options), start);
}

/**
 * The tree of a pack as a compressed tar. The whole tree is checked first.
 *
 * @throws NotFoundError if there is no such version or location, TooLargeError beyond the limits, FailedOperationError for a damaged pack.
 */
export async function openArchive(
  files: PackFiles,
  { commit, isSought, subPath }: WantedTree,
  options: ScanOptions & ArchiveOptions,
): Promise<Readable> {
  const pack = await scanPack(files, options);
  const id = isSought ? seekCommit(pack, commit) : commit;
  const tree = { ...(await readCommit(pack, id)), subPath };
  await checkTree(pack, tree, options);
  return archiveTree(pack, tree, options);
}

/** The repository has no such version. */
export function versionNotFound(): NotFoundError {
  return new NotFoundError('The repository has no such branch, tag or commit as the version of the artifact');
}

function seekCommit({ index }: ScannedPack, start: string): string {
  if (start.length === idLength) {
    if (index.find(Buffer.from(start, 'hex')) === undefined) throw versionNotFound();
    return start;
  }
  const [commit, other] = index.findIds(entryTypes.commit, start);
  if (commit === undefined) throw versionNotFound();
  if (other === undefined) return commit;
  throw new InvalidInputError('version: expected more digits: several commits begin so');
}

/** The tree of a commit, or of a commit's tag, and its time. */
async function readCommit(pack: ScannedPack, id: string): Promise<Pick<ArchivedTree, 'root' | 'timeS'>> {
  let object = pack.index.get(Buffer.from(id, 'hex'));
  for (let tags = 0; pack.index.getType(object) === entryTypes.tag && tags < tagsMax; tags += 1) {
    const target = /^object ([0-9a-f]{40})\n/.exec(await readText(pack, object))?.[1] ?? '';
    object = pack.index.get(Buffer.from(target.padEnd(idLength, '0'), 'hex'));
  }
  if (pack.index.getType(object) !== entryTypes.commit) {
    throw new NotFoundError('The version of the artifact is no commit');
  }
  const text = await readText(pack, object);
  const [, tree = ''] = /^tree ([0-9a-f]{40})\n/.exec(text) ?? [];
  if (tree === '') throw damaged();
  // Its first lines describe the commit; the message begins after an empty one.
  const [lines = ''] = text.split('\n\n', 1);
  const [, timeS = '0'] = /^committer .*> (\d{1,12}) [+-]\d{4}$/m.exec(lines) ?? [];
  return { root: pack.index.get(Buffer.from(tree, 'hex')), timeS: Number(timeS) };
}

async function readText(pack: ScannedPack, object: number): Promise<string> {
  return (await readSmall(pack, object, commitBytesMax)).toString('latin1');
}

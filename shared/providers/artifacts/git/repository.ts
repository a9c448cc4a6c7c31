import {
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  OverdueError,
  TooLargeError,
} from '../../../core/errors.ts';
import { type CloneFile, type CloneFolder, openCloneFolder } from './clone-folder.ts';
import type { CloneLimits } from './clone-limits.ts';
import { entryTypes } from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import { canOmitFiles, fetchPack, type PackRequest } from './pack-request.ts';
import { type ScannedPack, scanPack } from './pack-scan.ts';
import { type GitTransport, listRefs, RefusedByServerError, type RemoteRefs } from './refs.ts';
import { type ArchivedTree, archiveTree, checkTree } from './tree-archive.ts';
import { readSmall } from './tree-walk.ts';

/** What is wanted of a repository. */
export interface RepositoryRequest {
  /** Branch, tag, or id of a commit, whole or its first seven digits and more. Undefined: `master`, else `HEAD`. */
  readonly version: string | undefined;
  /** Folder or file that is wanted alone, without a slash at either end; empty for all. */
  readonly subPath: string;
}

/** What a repository is read with. */
export interface RepositoryOptions {
  readonly limits: CloneLimits;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Called once when the files are deleted, or nothing was read. */
  readonly release: () => void;
}

/** A reading that goes on. */
interface Reading {
  readonly transport: GitTransport;
  readonly remote: RemoteRefs;
  readonly folder: CloneFolder;
  readonly options: RepositoryOptions;
}

/** The time of an archive that nobody reads, in milliseconds: then its files are deleted. */
const archiveTimeMaxMs = 600_000;

/** Longest name of a branch or tag, in characters. */
const versionLengthMax = 1_024;

/** Largest commit or tag, in bytes. */
const commitBytesMax = 2 ** 20;

/** Most tags upon each other. */
const tagsMax = 10;

/**
 * Reads a repository into files of its own, and answers the tree of a version as a compressed tar. The files are deleted when that was
 * read, when the signal is aborted, or after ten minutes.
 *
 * @throws NotFoundError when there is no such version or location, TooLargeError beyond the limits, OverdueError when it takes too long,
 *   FailedOperationError when the server does not speak git's protocol, and what the transport throws.
 */
export async function readRepository(
  transport: GitTransport,
  request: RepositoryRequest,
  options: RepositoryOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(tooSlow(options.limits)), options.limits.timeMs).unref();
  const timed = { ...options, signal: AbortSignal.any([options.signal, overdue.signal]) };
  const folder = await openFolder(options);
  try {
    const { pack, tree } = await readTree(transport, request, { folder, options: timed });
    await checkTree(pack, tree, timed);
    return answerArchive({ pack, tree }, folder, options);
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    timed.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A folder after whose deletion `release` is called. */
async function openFolder({ limits, nowMs, release }: RepositoryOptions): Promise<CloneFolder> {
  try {
    const folder = await openCloneFolder(limits.folderBytesMax, nowMs);
    return {
      createFile: () => folder.createFile(),
      async [Symbol.asyncDispose]() {
        await folder[Symbol.asyncDispose]();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

function tooSlow({ timeMs }: CloneLimits): OverdueError {
  return new OverdueError(
    `The repository could not be read within ${timeMs / 1000} s: name a branch or tag in place of a commit, or divide it`,
  );
}

/** Deletes the folder when the archive has been read, however that ends, or when nobody reads it. */
function answerArchive(
  { pack, tree }: { readonly pack: ScannedPack; readonly tree: ArchivedTree },
  folder: CloneFolder,
  options: RepositoryOptions,
): AsyncIterable<Uint8Array> {
  const archive = archiveTree(pack, tree, options);
  const giveUp = () => archive.destroy(new FailedOperationError('The archive was read too slowly'));
  const timer = setTimeout(giveUp, archiveTimeMaxMs).unref();
  const stop = () => archive.destroy();
  options.signal.addEventListener('abort', stop, { once: true });
  archive.once('close', () => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', stop);
    void folder[Symbol.asyncDispose]();
  });
  // Who reads it sees the error; without a reader there must be somebody, too.
  archive.on('error', () => {});
  return archive;
}

async function readTree(
  transport: GitTransport,
  { version, subPath }: RepositoryRequest,
  { folder, options }: Pick<Reading, 'folder' | 'options'>,
) {
  const { signal } = options;
  const remote = await listRefs(transport, toQuery(version), signal);
  const reading = { transport, remote, folder, options };
  const { pack, commit } = await readVersion(reading, version);
  const names = subPath === '' ? [] : subPath.split('/');
  return { pack, tree: { ...(await readCommit(pack, commit)), subPath: names } };
}

/** Whether it can be the id of a commit, whole or in part. */
function isCommitId(version: string): boolean {
  return /^[0-9a-f]{7,40}$/i.test(version);
}

const tipPrefixes = ['refs/heads/', 'refs/tags/'];

/** Refs that may be meant; all branches and tags where it may be a commit of any of them. */
function toQuery(version: string | undefined) {
  if (version !== undefined && version.length > versionLengthMax) {
    throw new InvalidInputError(`version: expected at most ${versionLengthMax} characters`);
  }
  if (version !== undefined && /[\p{Cc} ~^:?*[\\]/u.test(version)) {
    throw new InvalidInputError('version: expected a branch, a tag or the id of a commit');
  }
  if (version !== undefined && isCommitId(version)) {
    return { prefixes: tipPrefixes, isWanted: (name: string) => isTip(name) };
  }
  const names = toRefNames(version);
  return { prefixes: names, isWanted: (name: string) => names.includes(name) };
}

function isTip(name: string): boolean {
  return tipPrefixes.some((prefix) => name.startsWith(prefix)) && !name.endsWith('^{}');
}

/** Refs that a version may mean, the likeliest first, as `git clone --branch` has it. */
function toRefNames(version: string | undefined): readonly string[] {
  if (version === undefined) return ['refs/heads/master', 'HEAD'];
  if (version === 'HEAD' || version.startsWith('refs/')) return [version];
  return tipPrefixes.map((prefix) => prefix + version);
}

interface ReadVersion {
  readonly pack: ScannedPack;
  /** Id of a commit or a tag of one. */
  readonly commit: string;
}

async function readVersion(reading: Reading, version: string | undefined): Promise<ReadVersion> {
  const { refs } = reading.remote;
  const isWholeId = version?.length === 40 && isCommitId(version);
  const named = isWholeId ? undefined : toRefNames(version).find((name) => refs.has(name));
  const id = named === undefined ? undefined : refs.get(named);
  if (id !== undefined) return readTip(reading, id);
  if (version === undefined) throw new NotFoundError('The repository has no commits');
  if (!isCommitId(version)) throw notFound();
  const start = version.toLowerCase();
  if (isWholeId) return readWholeId(reading, start);
  const known = [...refs.values()].find((tip) => tip.startsWith(start));
  return known === undefined ? readShortId(reading, start) : readTip(reading, known);
}

function notFound(): NotFoundError {
  return new NotFoundError('The repository has no such branch, tag or commit as the version of the artifact');
}

async function readTip(reading: Reading, commit: string): Promise<ReadVersion> {
  return { commit, pack: await readPack(reading, { wants: [commit], depth: 'tip' }) };
}

/** A commit alone, if the server lets anybody ask for it; else the whole repository. */
async function readWholeId(reading: Reading, commit: string): Promise<ReadVersion> {
  try {
    return await readTip(reading, commit);
  } catch (error) {
    if (!(error instanceof RefusedByServerError)) throw error;
    const pack = await readPack(reading, { wants: listTips(reading), depth: 'all' });
    if (pack.index.find(Buffer.from(commit, 'hex')) === undefined) throw notFound();
    return { pack, commit };
  }
}

/** The commits alone tell which is meant, where the server can send them without files; else the whole repository is read. */
async function readShortId(reading: Reading, start: string): Promise<ReadVersion> {
  const omitsFiles = canOmitFiles(reading.remote);
  const depth = omitsFiles ? 'commits' : 'all';
  const pack = await readPack(reading, { wants: listTips(reading), depth });
  const [commit, other] = pack.index.findIds(entryTypes.commit, start);
  if (commit === undefined) throw notFound();
  if (other !== undefined) {
    throw new InvalidInputError('version: expected more digits: several commits begin so');
  }
  return omitsFiles ? readWholeId(reading, commit) : { pack, commit };
}

/** Every branch and tag. @throws NotFoundError when there is none. */
function listTips({ remote }: Reading): readonly string[] {
  const tips = [...new Set(remote.refs.values())];
  if (tips.length === 0) throw new NotFoundError('The repository has no commits');
  return tips;
}

async function readPack(
  { transport, remote, folder, options }: Reading,
  request: PackRequest,
): Promise<ScannedPack> {
  const { limits, signal } = options;
  const pack = await folder.createFile();
  for await (const piece of fetchPack(transport, remote, { request, signal })) {
    await appendPack(pack, piece, limits);
  }
  return scanPack({ pack, unpacked: await folder.createFile() }, { limits, signal });
}

async function appendPack(pack: CloneFile, piece: Buffer, { packBytesMax }: CloneLimits): Promise<void> {
  if (pack.size + piece.length > packBytesMax) {
    throw new TooLargeError(
      `The repository is larger than the limit of ${packBytesMax} bytes: name a branch or tag in place of a commit, or divide it`,
    );
  }
  await pack.append(piece);
}

/** The tree of a commit, which tags may stand before, and its time. */
async function readCommit(pack: ScannedPack, id: string): Promise<Pick<ArchivedTree, 'root' | 'timeS'>> {
  let object = pack.index.get(Buffer.from(id, 'hex'));
  for (let tags = 0; pack.index.getType(object) === entryTypes.tag && tags < tagsMax; tags += 1) {
    const target = /^object ([0-9a-f]{40})\n/.exec(await readText(pack, object))?.[1] ?? '';
    object = pack.index.get(Buffer.from(target.padEnd(40, '0'), 'hex'));
  }
  if (pack.index.getType(object) !== entryTypes.commit) {
    throw new NotFoundError('The version of the artifact is no commit');
  }
  const text = await readText(pack, object);
  const [, tree = ''] = /^tree ([0-9a-f]{40})\n/.exec(text) ?? [];
  if (tree === '') throw damaged();
  // Its first lines are about the commit; the message begins behind an empty one.
  const [lines = ''] = text.split('\n\n', 1);
  const [, timeS = '0'] = /^committer .*> (\d{1,12}) [+-]\d{4}$/m.exec(lines) ?? [];
  return { root: pack.index.get(Buffer.from(tree, 'hex')), timeS: Number(timeS) };
}

async function readText(pack: ScannedPack, object: number): Promise<string> {
  return (await readSmall(pack, object, commitBytesMax)).toString('latin1');
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  OverdueError,
  TooLargeError,
} from '#core/errors.ts';
import type { ThreadPool } from '#threads/thread-pool.ts';
import { archiveName, type CloneFile, type CloneFolder, openCloneFolder } from './clone-folder.ts';
import type { CloneLimits } from './clone-limits.ts';
import type { PackQuery } from './pack-job.ts';
import { canOmitFiles, fetchPack, type PackRequest } from './pack-request.ts';
import { findCommit, openArchive, versionNotFound, type WantedTree } from './pack-work.ts';
import { type GitTransport, listRefs, RefusedByServerError, type RemoteRefs } from './refs.ts';

/** The wanted part of a repository. */
interface RepositoryRequest {
  /** Branch, tag, or id of a commit, whole or at least its first seven digits. Undefined: `master`, else `HEAD`. */
  readonly version: string | undefined;
  /** The only wanted folder or file, without a slash at either end; empty for everything. */
  readonly subPath: string;
}

interface RepositoryOptions {
  /** Name of the account. */
  readonly account: string;
  /** Threads that read packs. Default: packs are read here, as no other request waits for the processor. */
  readonly threads?: ThreadPool | undefined;
  readonly limits: CloneLimits;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Called once, when the files are deleted, or if nothing was read. */
  readonly release: () => void;
}

/** A read in progress. */
interface Reading {
  readonly transport: GitTransport;
  readonly remote: RemoteRefs;
  readonly folder: CloneFolder;
  readonly options: RepositoryOptions;
}

/** How long an archive may go unread before its files are deleted, in milliseconds. */
const archiveTimeMaxMs = 600_000;

/** The longest name of a branch or tag, in characters. */
const versionLengthMax = 1_024;

/**
 * Reads a repository into separate files, and returns the tree of a version as a compressed tar. The files are deleted once that is read,
 * when the signal is aborted, or after ten minutes.
 *
 * @throws NotFoundError if there is no such version or location, TooLargeError beyond the limits, OverdueError if it takes too long,
 *   OverloadError if too many wait for a thread, FailedOperationError if it takes too much processor time or the server does not speak
 *   git's protocol, and what the transport throws.
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
    const wanted = await readVersion(transport, request, { folder, options: timed });
    return answerArchive(await startArchive(wanted, { folder, options: timed }), folder, options);
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
      ...folder,
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

/** Deletes the folder once reading the archive ends in any way, or if it is not read. */
function answerArchive(
  archive: Readable,
  folder: CloneFolder,
  options: RepositoryOptions,
): AsyncIterable<Uint8Array> {
  const giveUp = () => archive.destroy(new FailedOperationError('The archive was read too slowly'));
  const timer = setTimeout(giveUp, archiveTimeMaxMs).unref();
  const stop = () => archive.destroy();
  options.signal.addEventListener('abort', stop, { once: true });
  archive.once('close', () => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', stop);
    void folder[Symbol.asyncDispose]();
  });
  // The reader sees the error; without a reader it must be handled, too.
  archive.on('error', () => {});
  return archive;
}

/** A tree, and the pack that has it. */
interface PackedTree extends WantedTree {
  readonly pack: CloneFile;
}

type Clone = Pick<Reading, 'folder' | 'options'>;

/** A tree as a compressed tar: while it is created, or from the file that a thread has written. */
async function startArchive({ pack, ...wanted }: PackedTree, clone: Clone): Promise<Readable> {
  const { folder, options } = clone;
  if (options.threads === undefined) return openArchive(await toFiles(pack, clone), wanted, options);
  await runInThread(options.threads, { pack, wanted }, clone);
  return createReadStream(join(folder.path, archiveName));
}

/** The commit of a pack whose id begins with `start`. */
async function seekCommit(pack: CloneFile, start: string, clone: Clone): Promise<string> {
  const { options } = clone;
  if (options.threads === undefined) return findCommit(await toFiles(pack, clone), start, options);
  return runInThread(options.threads, { pack, wanted: { start } }, clone);
}

async function toFiles(pack: CloneFile, { folder }: Clone) {
  return { pack, unpacked: await folder.createFile(`${pack.name}.unpacked`) };
}

async function runInThread(
  threads: ThreadPool,
  { pack, wanted }: { readonly pack: CloneFile; readonly wanted: PackQuery['wanted'] },
  { folder, options: { account, limits, signal } }: Clone,
): Promise<string> {
  const query = { folder: folder.path, bytesLeft: folder.getBytesLeft(), pack: pack.name, limits, wanted };
  const load = () => import('./pack-job.ts');
  return threads.run({ load, query, account, what: 'The repository', signal });
}

async function readVersion(
  transport: GitTransport,
  { version, subPath }: RepositoryRequest,
  { folder, options }: Clone,
): Promise<PackedTree> {
  const remote = await listRefs(transport, toQuery(version), options.signal);
  const reading = { transport, remote, folder, options };
  return { ...(await readCommit(reading, version)), subPath: subPath === '' ? [] : subPath.split('/') };
}

/** Whether a version can be the id of a commit, whole or in part. */
function isCommitId(version: string): boolean {
  return /^[0-9a-f]{7,40}$/i.test(version);
}

const tipPrefixes = ['refs/heads/', 'refs/tags/'];

/** The refs that a version may mean; all branches and tags if it may be a commit of any of them. */
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

/** The refs that a version may mean, the likeliest first, as in `git clone --branch`. */
function toRefNames(version: string | undefined): readonly string[] {
  if (version === undefined) return ['refs/heads/master', 'HEAD'];
  if (version === 'HEAD' || version.startsWith('refs/')) return [version];
  return tipPrefixes.map((prefix) => prefix + version);
}

type FoundCommit = Omit<PackedTree, 'subPath'>;

async function readCommit(reading: Reading, version: string | undefined): Promise<FoundCommit> {
  const { refs } = reading.remote;
  const isWholeId = version?.length === 40 && isCommitId(version);
  const named = isWholeId ? undefined : toRefNames(version).find((name) => refs.has(name));
  const id = named === undefined ? undefined : refs.get(named);
  if (id !== undefined) return readTip(reading, id);
  if (version === undefined) throw new NotFoundError('The repository has no commits');
  if (!isCommitId(version)) throw versionNotFound();
  const start = version.toLowerCase();
  if (isWholeId) return readWholeId(reading, start);
  const known = [...refs.values()].find((tip) => tip.startsWith(start));
  return known === undefined ? readShortId(reading, start) : readTip(reading, known);
}

async function readTip(reading: Reading, commit: string): Promise<FoundCommit> {
  return { commit, isSought: false, pack: await readPack(reading, { wants: [commit], depth: 'tip' }) };
}

/** A commit alone, if the server allows requests for it; else the whole repository. */
async function readWholeId(reading: Reading, commit: string): Promise<FoundCommit> {
  try {
    return await readTip(reading, commit);
  } catch (error) {
    if (!(error instanceof RefusedByServerError)) throw error;
    return readAll(reading, commit);
  }
}

async function readAll(reading: Reading, commit: string): Promise<FoundCommit> {
  return {
    commit,
    isSought: true,
    pack: await readPack(reading, { wants: listTips(reading), depth: 'all' }),
  };
}

/** Finds the commit in commits without files, if the server can send these; else reads the whole repository. */
async function readShortId(reading: Reading, start: string): Promise<FoundCommit> {
  if (!canOmitFiles(reading.remote)) return readAll(reading, start);
  const pack = await readPack(reading, { wants: listTips(reading), depth: 'commits' });
  return readWholeId(reading, await seekCommit(pack, start, reading));
}

/** Every branch and tag. @throws NotFoundError if there is none. */
function listTips({ remote }: Reading): readonly string[] {
  const tips = [...new Set(remote.refs.values())];
  if (tips.length === 0) throw new NotFoundError('The repository has no commits');
  return tips;
}

async function readPack(
  { transport, remote, folder, options }: Reading,
  request: PackRequest,
): Promise<CloneFile> {
  const { limits, signal } = options;
  const pack = await folder.createFile(`${request.depth}.pack`);
  for await (const piece of fetchPack(transport, remote, { request, signal })) {
    await appendPack(pack, piece, limits);
  }
  return pack;
}

async function appendPack(pack: CloneFile, piece: Buffer, { packBytesMax }: CloneLimits): Promise<void> {
  if (pack.size + piece.length > packBytesMax) {
    throw new TooLargeError(
      `The repository is larger than the limit of ${packBytesMax} bytes: name a branch or tag in place of a commit, or divide it`,
    );
  }
  await pack.append(piece);
}

import { FailedOperationError, NotFoundError, TooLargeError } from '#core/errors.ts';
import type { CloneLimits } from './clone-limits.ts';
import { entryTypes, smallObjectBytesMax } from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import type { ScannedPack } from './pack-scan.ts';

/** A file, folder, symbolic link or submodule of a tree. */
export interface TreeEntry {
  /** Path from the root of the repository, without a trailing slash. */
  readonly path: string;
  readonly kind: 'file' | 'program' | 'folder' | 'link' | 'submodule';
  /** Its object; undefined for a submodule, which is in another repository. */
  readonly object: number | undefined;
}

interface WalkOptions {
  readonly limits: Pick<CloneLimits, 'entriesMax'>;
  readonly signal: AbortSignal;
}

/** Entries after which other requests get the processor: remembered folders are walked without any wait. */
const entriesOfTurn = 1_000;

async function takeTurns({ signal }: WalkOptions): Promise<void> {
  await new Promise<void>((resolve) => void setImmediate(resolve));
  signal.throwIfAborted();
}

/** The longest path, in characters: Linux' limit. */
const pathLengthMax = 4_096;
const idBytes = 20;

/**
 * Everything below a tree, folders before their content, in git's order. With a sub-path only that, with its parent folders.
 *
 * @param subPath names separated by slashes; empty for everything.
 * @throws NotFoundError if there is nothing at the sub-path, TooLargeError beyond the limits, FailedOperationError for a tree that git
 *   would not write, such as one with names that lead out of it.
 */
export async function* walkTree(
  pack: ScannedPack,
  { root, subPath }: { readonly root: number; readonly subPath: readonly string[] },
  options: WalkOptions,
): AsyncGenerator<TreeEntry> {
  const stack: Iterator<TreeEntry>[] = [];
  let entries = 0;
  const top = yield* descend(pack, root, subPath);
  stack.push([...top].values());
  for (let walked = stack.at(-1); walked !== undefined; walked = stack.at(-1)) {
    const { value: entry, done } = walked.next();
    if (done === true) {
      stack.pop();
      continue;
    }
    entries += 1;
    if (entries % entriesOfTurn === 0) await takeTurns(options);
    if (entries > options.limits.entriesMax) throw tooMany(options.limits.entriesMax);
    yield entry;
    if (entry.kind === 'folder') stack.push((await readFolder(pack, entry)).values());
  }
}

function tooMany(entriesMax: number): TooLargeError {
  return new TooLargeError(
    `The tree has more files and folders than the limit of ${entriesMax}: name a part of it by the location`,
  );
}

/** Descends to the sub-path. @returns what there is to walk. */
async function* descend(
  pack: ScannedPack,
  root: number,
  subPath: readonly string[],
): AsyncGenerator<TreeEntry, readonly TreeEntry[]> {
  let folder = await readTree(pack, root, '');
  for (const [depth, name] of subPath.entries()) {
    const path = subPath.slice(0, depth + 1).join('/');
    const found = folder.find((entry) => entry.path === path);
    const isLast = depth === subPath.length - 1;
    if (found === undefined || (!isLast && found.kind !== 'folder')) {
      throw new NotFoundError('The repository has nothing at the location of the artifact');
    }
    if (isLast || name === undefined) return [found];
    yield found;
    folder = await readFolder(pack, found);
  }
  return folder;
}

async function readFolder(pack: ScannedPack, { path, object }: TreeEntry): Promise<readonly TreeEntry[]> {
  return object === undefined ? [] : readTree(pack, object, `${path}/`);
}

async function readTree(pack: ScannedPack, tree: number, prefix: string): Promise<readonly TreeEntry[]> {
  if (pack.index.getType(tree) !== entryTypes.tree) throw damaged();
  const bytes = await readSmall(pack, tree, treeBytesMax);
  const names = new Set<string>();
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, blank);
    if (blank < 0 || end < 0 || end + idBytes >= bytes.length + 1) throw damaged();
    const name = decodeName(bytes.subarray(blank + 1, end));
    if (names.has(name)) throw unsafe();
    names.add(name);
    const id = bytes.subarray(end + 1, end + 1 + idBytes);
    entries.push(toEntry(pack, { path: prefix + name, mode: bytes.toString('latin1', at, blank), id }));
    at = end + 1 + idBytes;
  }
  return entries;
}

/** The largest list of one folder, in bytes: some 200,000 names. */
const treeBytesMax = 8 * 2 ** 20;

/** Reads an object into memory: a commit, a tag, or the list of a folder. @throws TooLargeError if it is larger. */
export async function readSmall(
  { index, objects }: ScannedPack,
  object: number,
  bytesMax: number,
): Promise<Buffer> {
  const size = index.getSize(object);
  if (size > bytesMax) {
    throw new TooLargeError(`A commit, tag or folder of the repository has more than ${bytesMax} bytes`);
  }
  if (size <= smallObjectBytesMax) {
    const content = await objects.read(object);
    if (!('file' in content)) return content;
  }
  return Buffer.concat(await Array.fromAsync(objects.stream(object)));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Names must not lead out of their folder, so that unpacking the archive never writes elsewhere. */
function decodeName(bytes: Buffer): string {
  let name: string;
  try {
    name = decoder.decode(bytes);
  } catch {
    throw new FailedOperationError('The tree has a name that is not UTF-8, which no archive can tell');
  }
  if (name === '' || name === '.' || name === '..' || name.includes('/') || isDotGit(name)) throw unsafe();
  return name;
}

/** Characters that HFS+, Apple's file system, ignores in names. */
const unseenByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Names that NTFS treats as `.git`: also its short name, in any case, with dots and blanks or a stream's name after it. */
const dotGitOfNtfs = /^(?:\.git|git~1)[. ]*(?:$|:)/i;

/** Whether some file system treats a name as a repository's own folder: `git fsck` refuses the same names. */
function isDotGit(name: string): boolean {
  // On Windows a backslash separates folders.
  return (
    name.split('\\').some((part) => dotGitOfNtfs.test(part)) ||
    /^\.git$/i.test(name.replaceAll(unseenByHfs, ''))
  );
}

function unsafe(): FailedOperationError {
  return new FailedOperationError('The tree has names that git forbids, such as .. or one name twice');
}

function toEntry(
  { index }: ScannedPack,
  { path, mode, id }: { readonly path: string; readonly mode: string; readonly id: Buffer },
): TreeEntry {
  if (path.length > pathLengthMax) throw new FailedOperationError('The tree has a path that is too long');
  const kind = toKind(mode);
  return { path, kind, object: kind === 'submodule' ? undefined : index.get(id) };
}

/** Git's modes: of files it records only whether they are executable. */
function toKind(mode: string): TreeEntry['kind'] {
  if (/^0?40000$/.test(mode)) return 'folder';
  if (mode === '120000') return 'link';
  if (mode === '160000') return 'submodule';
  if (!/^100[0-7]{3}$/.test(mode)) throw damaged();
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? 'file' : 'program';
}

import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar';
import { TooLargeError } from '#core/errors.ts';
import type { CloneLimits } from './clone-limits.ts';
import { entryTypes } from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import type { ScannedPack } from './pack-scan.ts';
import { readSmall, type TreeEntry, walkTree } from './tree-walk.ts';

/** A tree, or a part of it. */
export interface ArchivedTree {
  /** The object of the tree. */
  readonly root: number;
  /** Names on the path to the wanted folder or file; empty for everything. */
  readonly subPath: readonly string[];
  /** Time of the commit, in seconds. It is the time of all files. */
  readonly timeS: number;
}

/** The options of creating an archive. */
export interface ArchiveOptions {
  readonly limits: Pick<CloneLimits, 'entriesMax' | 'treeBytesMax'>;
  readonly signal: AbortSignal;
}

/** As in `git archive`: the permissions of unpacked files are up to the unpacking user. */
const modes = { file: 0o664, program: 0o775, folder: 0o775, submodule: 0o775, link: 0o777 };

/** The longest target of a symbolic link, in bytes: Linux' limit. */
const linkBytesMax = 4_096;

/** Checks a whole tree before any of it is sent. @throws what `walkTree` throws, and TooLargeError if its files have too many bytes. */
export async function checkTree(
  pack: ScannedPack,
  tree: ArchivedTree,
  options: ArchiveOptions,
): Promise<void> {
  const { treeBytesMax } = options.limits;
  let bytes = 0;
  for await (const { kind, object } of walkTree(pack, tree, options)) {
    if (object === undefined || kind === 'folder') continue;
    if (pack.index.getType(object) !== entryTypes.blob) throw damaged();
    bytes += pack.index.getSize(object);
    if (bytes <= treeBytesMax) continue;
    throw new TooLargeError(`The tree of the repository is larger than the limit of ${treeBytesMax} bytes`);
  }
}

/** A tree as `git archive --format=tgz` writes it: a compressed tar, created while it is read. */
export function archiveTree(pack: ScannedPack, tree: ArchivedTree, options: ArchiveOptions): Readable {
  const { readable, controller } = createTarPacker();
  const waiting = new WaitingBytes();
  const archiving = { pack, tree, options, waiting };
  writeEntries(controller, archiving).catch((error: unknown) => controller.error(error));
  const gzip = createGzip({ level: gzipLevel, chunkSize: joinedBytes });
  // The reader sees how it ends.
  pipeline(Readable.from(joinPieces(readable, waiting)), gzip, () => {});
  return gzip;
}

/** Takes two thirds of gzip's default time, for a twentieth more bytes. */
const gzipLevel = 4;
const joinedBytes = 2 ** 16;

interface Archiving {
  readonly pack: ScannedPack;
  readonly tree: ArchivedTree;
  readonly options: ArchiveOptions;
  readonly waiting: WaitingBytes;
}

/** Makes the writer of a tar wait while much of it waits to be compressed: the packer itself lets 8 MiB wait. */
class WaitingBytes {
  #bytes = 0;
  #resume: (() => void) | undefined;

  async add(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes <= waitingBytesMax) return;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
  }

  take(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes <= waitingBytesMax) this.#resume?.();
  }
}

const waitingBytesMax = 2 ** 18;
const tarBlockBytes = 512;

async function writeEntries(
  tar: TarPackController,
  { pack, tree, options, waiting }: Archiving,
): Promise<void> {
  for await (const entry of walkTree(pack, tree, options)) {
    const header = await toHeader(pack, entry, tree);
    const writer = tar.add(header).getWriter();
    if (header.type === 'file' && entry.object !== undefined) {
      for await (const piece of pack.objects.stream(entry.object)) {
        await writer.write(piece);
        await waiting.add(piece.length);
      }
    }
    await writer.close();
    await waiting.add(tarBlockBytes);
  }
  tar.finalize();
}

/** Each piece goes to a gzip thread and back, so headers and small files are joined. */
async function* joinPieces(
  pieces: AsyncIterable<Uint8Array>,
  waiting: WaitingBytes,
): AsyncGenerator<Uint8Array> {
  let joined: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      joined.push(piece);
      bytes += piece.length;
      waiting.take(piece.length);
      if (bytes < joinedBytes) continue;
      yield Buffer.concat(joined);
      joined = [];
      bytes = 0;
    }
    yield Buffer.concat(joined);
  } finally {
    // A waiting writer continues, and finds that the archive is not read any more.
    waiting.take(Number.POSITIVE_INFINITY);
  }
}

async function toHeader(pack: ScannedPack, entry: TreeEntry, { timeS }: ArchivedTree): Promise<TarHeader> {
  const { path, kind, object } = entry;
  const shared = {
    mode: modes[kind],
    mtime: new Date(timeS * 1000),
    uid: 0,
    gid: 0,
    uname: 'root',
    gname: 'root',
  };
  if (kind === 'folder' || kind === 'submodule') {
    return { ...shared, name: `${path}/`, size: 0, type: 'directory' };
  }
  if (object === undefined) throw damaged();
  if (kind !== 'link') return { ...shared, name: path, size: pack.index.getSize(object), type: 'file' };
  const linkname = (await readSmall(pack, object, linkBytesMax)).toString('utf8');
  return { ...shared, name: path, size: 0, type: 'symlink', linkname };
}

import { pipeline, Readable } from 'node:stream';
import { createInflate, inflateSync } from 'node:zlib';
import type { CloneFile } from './clone-folder.ts';
import { damaged } from './pack-error.ts';
import type { PackWindow } from './pack-window.ts';

/** Objects up to this many bytes are unpacked at once, in memory; larger ones piece by piece. */
export const smallObjectBytesMax = 2 ** 20;

/** A pack's numbers for the types of entries. */
export const entryTypes = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6, refDelta: 7 } as const;

/** The header before the compressed bytes of an entry. */
export interface PackEntry {
  /** One of `entryTypes`. */
  readonly type: number;
  /** Uncompressed bytes of the object, or the delta. */
  readonly size: number;
  /** Where the compressed bytes begin. */
  readonly dataOffset: number;
  /** Where the base of a delta begins. */
  readonly baseOffset?: number;
  /** Id of the base of a delta, 20 bytes. */
  readonly baseId?: Buffer;
}

const entryHeadBytesMax = 64;
const idBytes = 20;

/** Reads the entry at an offset of a pack. @throws FailedOperationError if there is none. */
export async function readPackEntry(window: PackWindow, offset: number): Promise<PackEntry> {
  const head = await window.peek(offset, entryHeadBytesMax);
  const { type, size, next } = readTypeAndSize(head);
  const dataOffset = offset + next;
  if (type === entryTypes.offsetDelta) {
    const [distance, end] = readDistance(head, next);
    if (distance === 0 || distance > offset) throw damaged();
    return { type, size, dataOffset: offset + end, baseOffset: offset - distance };
  }
  if (type === entryTypes.refDelta) {
    const baseId = Buffer.from(head.subarray(next, next + idBytes));
    return { type, size, dataOffset: dataOffset + idBytes, baseId };
  }
  if (type < entryTypes.commit || type > entryTypes.tag) throw damaged();
  return { type, size, dataOffset };
}

/** Three bits of type, and a size whose first byte has four bits and each further one seven. */
function readTypeAndSize(head: Buffer) {
  const { [0]: first = 0 } = head;
  let size = first & 0x0f;
  let next = 1;
  for (let byte = first, factor = 16; byte >= 0x80; factor *= 128, next += 1) {
    byte = head[next] ?? 0;
    size += (byte & 0x7f) * factor;
    if (!Number.isSafeInteger(size)) throw damaged();
  }
  return { type: (first >> 4) & 7, size, next };
}

/** How far before its delta a base begins: seven bits a byte, the highest first; each further byte adds one. */
function readDistance(head: Buffer, start: number): readonly [distance: number, next: number] {
  let byte = head[start] ?? 0;
  let value = byte & 0x7f;
  let next = start + 1;
  while (byte >= 0x80) {
    byte = head[next] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
    next += 1;
    if (!Number.isSafeInteger(value)) throw damaged();
  }
  return [value, next];
}

/** Unpacked bytes, and the offset in the pack after them. */
interface Inflated {
  readonly bytes: Buffer;
  readonly end: number;
}

/** Unpacks an entry at once. @throws FailedOperationError if it does not have the announced size. */
export async function inflateEntry(window: PackWindow, { dataOffset, size }: PackEntry): Promise<Inflated> {
  // Incompressible data grows by some bytes in a hundred kilobytes.
  const packed = await window.peek(dataOffset, size + Math.ceil(size / 512) + 1_024);
  try {
    const limits = { chunkSize: size + 64, maxOutputLength: size + 1 };
    const { buffer, engine } = inflateSync(packed, { info: true, ...limits });
    if (buffer.length !== size) throw damaged();
    return { bytes: buffer, end: dataOffset + engine.bytesWritten };
  } catch (error) {
    throw damaged(error);
  }
}

/** An entry that is unpacked as it is read. */
interface InflatedStream {
  /** Its bytes. @throws FailedOperationError if they are not as many as the entry announces. */
  readonly bytes: AsyncIterable<Buffer>;
  /** The offset in the pack after it; call it once it is read. */
  getEnd(): number;
}

/** Unpacks an entry of any size, piece by piece. */
export function streamEntry(file: CloneFile, { dataOffset, size }: PackEntry): InflatedStream {
  const inflate = createInflate({ chunkSize: streamPieceBytes });
  async function* read(): AsyncGenerator<Buffer> {
    // The reader sees how it ends.
    pipeline(Readable.from(readFile(file, dataOffset, file.size)), inflate, () => {});
    let made = 0;
    try {
      for await (const piece of inflate as AsyncIterable<Buffer>) {
        made += piece.length;
        if (made > size) throw damaged();
        yield piece;
      }
    } catch (error) {
      throw damaged(error);
    } finally {
      inflate.destroy();
    }
    if (made !== size) throw damaged();
  }
  return { bytes: read(), getEnd: () => dataOffset + inflate.bytesWritten };
}

const streamPieceBytes = 2 ** 17;

/** Bytes of a file, from one offset to another. */
export async function* readFile(file: CloneFile, start: number, end: number): AsyncGenerator<Buffer> {
  let at = start;
  while (at < end) {
    const piece = Buffer.allocUnsafe(Math.min(streamPieceBytes, end - at));
    const { bytesRead } = await file.handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw damaged();
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}

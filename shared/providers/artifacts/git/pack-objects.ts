import { TooLargeError } from '#core/errors.ts';
import type { CloneFile } from './clone-folder.ts';
import { type Delta, type DeltaStep, parseDelta } from './delta.ts';
import {
  inflateEntry,
  type PackEntry,
  readFile,
  readPackEntry,
  smallObjectBytesMax,
  streamEntry,
} from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import type { PackIndex } from './pack-index.ts';
import { PackWindow } from './pack-window.ts';

/** An object: in memory, or a part of a file if it is large. */
export type ObjectContent = Buffer | FilePart;

/** A part of a file. */
interface FilePart {
  readonly file: CloneFile;
  readonly offset: number;
  readonly length: number;
}

/** Largest delta, in bytes; it is held in memory. */
export const deltaBytesMax = 16 * 2 ** 20;

/** The longest chain of deltas: git itself makes no longer ones. */
export const deltaDepthMax = 4_095;

const rememberedBytesMax = 4 * 2 ** 20;
const randomReadBytes = 2 ** 16;

/** The sources of objects. */
interface PackObjectsOptions {
  readonly files: { readonly pack: CloneFile; readonly unpacked: CloneFile };
  readonly index: PackIndex;
  readonly objectBytesMax: number;
}

/** @throws TooLargeError if an object has too many bytes. */
export function assertObjectSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return;
  throw new TooLargeError(`A file of the repository is larger than the limit of ${bytesMax} bytes`);
}

/** Reads objects of a pack. Bases of deltas are remembered: a pack stores related objects next to each other. */
export class PackObjects {
  readonly #pack: CloneFile;
  /** Large objects that are results, or bases, of deltas. */
  readonly #unpacked: CloneFile;
  readonly #index: PackIndex;
  readonly #window: PackWindow;
  readonly #remembered = new Map<number, ObjectContent>();
  readonly #objectBytesMax: number;
  #rememberedBytes = 0;

  /** @param options the files of the pack, its index, and most bytes of an object. */
  constructor({ files, index, objectBytesMax }: PackObjectsOptions) {
    this.#objectBytesMax = objectBytesMax;
    this.#pack = files.pack;
    this.#unpacked = files.unpacked;
    this.#index = index;
    this.#window = new PackWindow(files.pack, randomReadBytes);
  }

  /** The bytes of an object, of any size. */
  async *stream(object: number): AsyncGenerator<Uint8Array> {
    const isWhole = this.#index.findBase(object) === undefined;
    if (isWhole && this.#index.getSize(object) > smallObjectBytesMax) {
      yield* streamEntry(this.#pack, await this.#readEntry(object)).bytes;
    } else {
      yield* readContent(await this.read(object));
    }
  }

  /** An object. @throws FailedOperationError if the pack is damaged, TooLargeError if it has deltas beyond the limits. */
  async read(object: number): Promise<ObjectContent> {
    const deltas: number[] = [];
    let at = object;
    let content = this.#recall(at);
    while (content === undefined) {
      const base = this.#index.findBase(at);
      if (base === undefined) content = await this.#readWhole(at);
      else deltas.push(at);
      if (deltas.length > deltaDepthMax) throw damaged();
      at = base ?? at;
      content ??= this.#recall(at);
    }
    for (const delta of deltas.reverse()) {
      content = await this.#apply(content, await this.#readBytes(await this.#readEntry(delta)));
      this.remember(delta, content);
    }
    return content;
  }

  /** An object by the bytes of its delta. */
  async resolve(base: number, delta: Buffer): Promise<ObjectContent> {
    return this.#apply(await this.read(base), delta);
  }

  /** Keeps an object as a possible base of deltas. */
  remember(object: number, content: ObjectContent): void {
    if (this.#remembered.has(object)) return;
    this.#remembered.set(object, content);
    this.#rememberedBytes += getHeldBytes(content);
    for (const [oldest, held] of this.#remembered) {
      if (this.#rememberedBytes <= rememberedBytesMax) break;
      // Parts of files take hardly any memory, and would have to be written again.
      if ('file' in held) continue;
      this.#remembered.delete(oldest);
      this.#rememberedBytes -= getHeldBytes(held);
    }
  }

  /** The bytes of a delta, all at once. @throws TooLargeError if there are too many. */
  async #readBytes(entry: PackEntry): Promise<Buffer> {
    if (entry.size <= smallObjectBytesMax) return (await inflateEntry(this.#window, entry)).bytes;
    return gatherDelta(streamEntry(this.#pack, entry).bytes, entry.size);
  }

  #recall(object: number): ObjectContent | undefined {
    const content = this.#remembered.get(object);
    if (content === undefined || 'file' in content) return content;
    this.#remembered.delete(object);
    this.#remembered.set(object, content);
    return content;
  }

  #readEntry(object: number): Promise<PackEntry> {
    return readPackEntry(this.#window, this.#index.getOffset(object));
  }

  async #readWhole(object: number): Promise<ObjectContent> {
    const entry = await this.#readEntry(object);
    const content =
      entry.size <= smallObjectBytesMax
        ? (await inflateEntry(this.#window, entry)).bytes
        : await this.#write(streamEntry(this.#pack, entry).bytes);
    this.remember(object, content);
    return content;
  }

  async #apply(base: ObjectContent, bytes: Buffer): Promise<ObjectContent> {
    const delta = parseDelta(bytes);
    if (delta.baseSize !== base.length) throw damaged();
    assertObjectSize(delta.size, this.#objectBytesMax);
    if (delta.size > smallObjectBytesMax) return this.#write(applySteps(base, delta));
    return 'file' in base ? gather(applySteps(base, delta), delta.size) : applyAtOnce(base, delta);
  }

  async #write(pieces: AsyncIterable<Uint8Array>): Promise<FilePart> {
    const file = this.#unpacked;
    const offset = file.size;
    for await (const piece of pieces) await file.append(piece);
    return { file, offset, length: file.size - offset };
  }
}

/** The bytes of a read object. */
export async function* readContent(content: ObjectContent): AsyncGenerator<Uint8Array> {
  if ('file' in content) yield* readFile(content.file, content.offset, content.offset + content.length);
  else yield content;
}

/** All bytes of a delta. @throws TooLargeError if there are more than `deltaBytesMax`. */
export async function gatherDelta(pieces: AsyncIterable<Uint8Array>, size: number): Promise<Buffer> {
  if (size <= deltaBytesMax) return gather(pieces, size);
  throw new TooLargeError(
    `The repository has large files that its server sends as changes of more than ${deltaBytesMax} bytes: keep them elsewhere`,
  );
}

async function gather(pieces: AsyncIterable<Uint8Array>, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let at = 0;
  for await (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
}

function getHeldBytes(content: ObjectContent): number {
  return 'file' in content ? 0 : content.length;
}

function applyAtOnce(base: Buffer, delta: Delta): Buffer {
  const bytes = Buffer.allocUnsafe(delta.size);
  let at = 0;
  for (const step of delta.steps()) {
    const part = 'bytes' in step ? step.bytes : base.subarray(step.offset, step.offset + step.length);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Steps are small, so their bytes are gathered: each piece is written to a file. */
async function* applySteps(base: ObjectContent, delta: Delta): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let held = 0;
  for (const step of delta.steps()) {
    for await (const part of readStep(base, step)) {
      gathered.push(part);
      held += part.length;
    }
    if (held < writtenAtOnceBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    held = 0;
  }
  yield Buffer.concat(gathered);
}

const writtenAtOnceBytes = 2 ** 18;

async function* readStep(base: ObjectContent, step: DeltaStep): AsyncGenerator<Uint8Array> {
  if ('bytes' in step) yield step.bytes;
  else if (!('file' in base)) yield base.subarray(step.offset, step.offset + step.length);
  else yield* readFile(base.file, base.offset + step.offset, base.offset + step.offset + step.length);
}

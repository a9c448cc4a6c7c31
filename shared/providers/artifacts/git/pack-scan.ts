import { createHash } from 'node:crypto';
import { FailedOperationError, TooLargeError } from '#core/errors.ts';
import type { CloneFile } from './clone-folder.ts';
import type { CloneLimits } from './clone-limits.ts';
import {
  inflateEntry,
  type PackEntry,
  readPackEntry,
  smallObjectBytesMax,
  streamEntry,
} from './pack-entry.ts';
import { damaged } from './pack-error.ts';
import { PackIndex } from './pack-index.ts';
import {
  assertObjectSize,
  gatherDelta,
  type ObjectContent,
  PackObjects,
  readContent,
} from './pack-objects.ts';
import { PackWindow } from './pack-window.ts';

/** A pack that was read once: its index, and its reader. */
export interface ScannedPack {
  readonly index: PackIndex;
  readonly objects: PackObjects;
}

/** The options of reading a pack. */
export interface ScanOptions {
  readonly limits: Pick<CloneLimits, 'objectsMax' | 'treeBytesMax'>;
  readonly signal: AbortSignal;
}

const headBytes = 12;
const typeNames = ['', 'commit', 'tree', 'blob', 'tag'];
const scanWindowBytes = 2 ** 20;

/** How much is unpacked, in bytes, before other requests get a turn. */
const turnBytes = 2 ** 22;

/** The fixed cost of any object, in bytes. */
const objectCost = 2 ** 12;

/** The most passes over deltas whose bases follow them. Git writes bases first. */
const passesMax = 50;

/**
 * Reads a pack, and computes the id of each object, which a pack does not contain.
 *
 * @param unpacked an empty file, for large objects that are deltas.
 * @throws TooLargeError if it exceeds the limits, FailedOperationError if it is damaged.
 */
export async function scanPack(
  files: { readonly pack: CloneFile; readonly unpacked: CloneFile },
  options: ScanOptions,
): Promise<ScannedPack> {
  const window = new PackWindow(files.pack, scanWindowBytes);
  const count = await readCount(window, options);
  const index = new PackIndex(count);
  const objects = new PackObjects({ files, index, objectBytesMax: options.limits.treeBytesMax });
  const scanner = new Scanner({ file: files.pack, window, index, objects, ...options });
  await scanner.readAll(count);
  await scanner.resolveAll();
  return { index, objects };
}

async function readCount(window: PackWindow, { limits }: ScanOptions): Promise<number> {
  const head = await window.peek(0, headBytes);
  if (head.length < headBytes || head.toString('latin1', 0, 4) !== 'PACK') throw damaged();
  if (![2, 3].includes(head.readUInt32BE(4))) throw damaged();
  const count = head.readUInt32BE(8);
  if (count <= limits.objectsMax) return count;
  throw new TooLargeError(
    `The repository has ${count} objects, more than the limit of ${limits.objectsMax}: name a branch or tag in place of a commit, or divide it`,
  );
}

interface ScannerParts extends ScanOptions, ScannedPack {
  readonly file: CloneFile;
  readonly window: PackWindow;
}

class Scanner {
  readonly #parts: ScannerParts;
  /** Deltas whose base is not known yet, with the base's id if that is how it is named. */
  #unresolved: { readonly object: number; readonly baseId: Buffer | undefined }[] = [];
  #spent = 0;

  constructor(parts: ScannerParts) {
    this.#parts = parts;
  }

  async readAll(count: number): Promise<void> {
    const { file, index, window } = this.#parts;
    let offset = headBytes;
    for (let read = 0; read < count; read += 1) {
      if (offset >= file.size) throw damaged();
      const entry = await readPackEntry(window, offset);
      assertObjectSize(entry.size, this.#parts.limits.treeBytesMax);
      await this.#takeTurns(entry.size);
      const object = index.add(offset);
      const isDelta = entry.baseOffset !== undefined || entry.baseId !== undefined;
      offset = await (isDelta ? this.#readDelta(object, entry) : this.#readWhole(object, entry));
    }
  }

  /** Resolves deltas that precede their bases. */
  async resolveAll(): Promise<void> {
    for (let passes = 0; this.#unresolved.length > 0; passes += 1) {
      const waiting = this.#unresolved;
      this.#unresolved = [];
      for (const { object, baseId } of waiting) await this.#resolve(object, { baseId });
      if (this.#unresolved.length === waiting.length || passes > passesMax) {
        throw new FailedOperationError('The git server sent changes of objects that it left out');
      }
    }
  }

  async #readWhole(object: number, entry: PackEntry): Promise<number> {
    const { file, objects, window } = this.#parts;
    if (entry.size > smallObjectBytesMax) {
      const { bytes, getEnd } = streamEntry(file, entry);
      await this.#complete(object, entry, bytes);
      return getEnd();
    }
    const { bytes, end } = await inflateEntry(window, entry);
    await this.#complete(object, entry, bytes);
    objects.remember(object, bytes);
    return end;
  }

  async #readDelta(object: number, entry: PackEntry): Promise<number> {
    const { file, index, window } = this.#parts;
    const { baseId, baseOffset } = entry;
    if (baseOffset !== undefined) index.setBase(object, index.getByOffset(baseOffset));
    if (entry.size > smallObjectBytesMax) {
      const { bytes, getEnd } = streamEntry(file, entry);
      await this.#resolve(object, { baseId, delta: await gatherDelta(bytes, entry.size) });
      return getEnd();
    }
    const { bytes, end } = await inflateEntry(window, entry);
    await this.#resolve(object, { baseId, delta: bytes });
    return end;
  }

  /** @param known the id of the base unless it is named by its offset, and the delta unless it must be read again. */
  async #resolve(
    object: number,
    { baseId, delta }: { readonly baseId?: Buffer | undefined; readonly delta?: Buffer },
  ): Promise<void> {
    const { index, objects } = this.#parts;
    const base = baseId === undefined ? index.findBase(object) : index.find(baseId);
    const type = base === undefined ? 0 : index.getType(base);
    if (base === undefined || type === 0) {
      this.#unresolved.push({ object, baseId });
      return;
    }
    index.setBase(object, base);
    const content = await (delta === undefined ? objects.read(object) : objects.resolve(base, delta));
    await this.#takeTurns(content.length);
    objects.remember(object, content);
    await this.#complete(object, { type, size: content.length }, content);
  }

  async #complete(
    object: number,
    { type, size }: { readonly type: number; readonly size: number },
    content: ObjectContent | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const hash = createHash('sha1').update(`${typeNames[type]} ${size}\0`);
    if (content instanceof Uint8Array) hash.update(content);
    else {
      const pieces = Symbol.asyncIterator in content ? content : readContent(content);
      for await (const piece of pieces) hash.update(piece);
    }
    this.#parts.index.complete(object, { type, size, id: hash.digest() });
  }

  /** Yields the processor now and then: small objects are unpacked synchronously. */
  async #takeTurns(bytes: number): Promise<void> {
    this.#spent += bytes + objectCost;
    if (this.#spent < turnBytes) return;
    this.#spent = 0;
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#parts.signal.throwIfAborted();
  }
}

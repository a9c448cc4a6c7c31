import { FailedOperationError } from '#core/errors.ts';
import { damaged } from './pack-error.ts';

const idBytes = 20;

/** The objects of a pack: their ids, types, sizes, offsets and bases, in few bytes each. Objects are identified by their number. */
export class PackIndex {
  readonly #offsets: Float64Array;
  readonly #sizes: Float64Array;
  readonly #types: Uint8Array;
  readonly #bases: Int32Array;
  readonly #ids: Buffer;
  /** Numbers of objects plus one, in the slot of their id or the next free one. */
  readonly #slots: Int32Array;
  #length = 0;

  /** @param count how many objects there will be. */
  constructor(count: number) {
    this.#offsets = new Float64Array(count);
    this.#sizes = new Float64Array(count);
    this.#types = new Uint8Array(count);
    this.#bases = new Int32Array(count).fill(-1);
    this.#ids = Buffer.alloc(count * idBytes);
    this.#slots = new Int32Array(2 * count + 1);
  }

  /** How many objects were added. */
  get length(): number {
    return this.#length;
  }

  /** Adds the next object by the offset of its entry, which is greater than those before. @returns its number. */
  add(offset: number): number {
    this.#offsets[this.#length] = offset;
    this.#length += 1;
    return this.#length - 1;
  }

  /** Where the entry of an object begins. */
  getOffset(object: number): number {
    return this.#offsets[object] ?? 0;
  }

  /** What an object is, one of `entryTypes`; 0 while it is not known. */
  getType(object: number): number {
    return this.#types[object] ?? 0;
  }

  /** Bytes of an object. */
  getSize(object: number): number {
    return this.#sizes[object] ?? 0;
  }

  /** The object that it is a delta of; undefined if it is complete. */
  findBase(object: number): number | undefined {
    const base = this.#bases[object] ?? -1;
    return base < 0 ? undefined : base;
  }

  /** Remembers the base of a delta. */
  setBase(object: number, base: number): void {
    this.#bases[object] = base;
  }

  /** Remembers what an object is. One with a duplicate id is found only by its offset. */
  complete(object: number, { type, size, id }: { type: number; size: number; id: Buffer }): void {
    this.#types[object] = type;
    this.#sizes[object] = size;
    id.copy(this.#ids, object * idBytes);
    const { slot, found } = this.#search(id);
    if (found === undefined) this.#slots[slot] = object + 1;
  }

  /** The object with an id of 20 bytes. */
  find(id: Buffer): number | undefined {
    return this.#search(id).found;
  }

  /** The object with an id. @throws FailedOperationError if the pack does not have it. */
  get(id: Buffer): number {
    const object = this.find(id);
    if (object !== undefined) return object;
    throw new FailedOperationError('The git server left out an object of the repository');
  }

  /** The object whose entry begins at an offset. @throws FailedOperationError if none does. */
  getByOffset(offset: number): number {
    let low = 0;
    let high = this.#length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.getOffset(middle) < offset) low = middle + 1;
      else high = middle;
    }
    if (this.getOffset(low) !== offset) throw damaged();
    return low;
  }

  /** Ids, in hexadecimal digits, of a type's objects, that begin with `start`: at most two. */
  findIds(type: number, start: string): readonly string[] {
    const found: string[] = [];
    for (let object = 0; object < this.#length && found.length < 2; object += 1) {
      if (this.getType(object) !== type) continue;
      const id = this.#readId(object).toString('hex');
      if (id.startsWith(start) && !found.includes(id)) found.push(id);
    }
    return found;
  }

  #readId(object: number): Buffer {
    return this.#ids.subarray(object * idBytes, (object + 1) * idBytes);
  }

  /** The object with an id, or the free slot for it. */
  #search(id: Buffer): { readonly slot: number; readonly found?: number } {
    let slot = id.readUInt32BE(0) % this.#slots.length;
    for (let taken = this.#slots[slot]; taken; taken = this.#slots[slot]) {
      if (this.#readId(taken - 1).equals(id)) return { slot, found: taken - 1 };
      slot = (slot + 1) % this.#slots.length;
    }
    return { slot };
  }
}

import type { CloneFile } from './clone-folder.ts';
import { damaged } from './pack-error.ts';

/** Reads a file through one buffer: nearby bytes are read from disk once. */
export class PackWindow {
  readonly #file: CloneFile;
  readonly #windowBytes: number;
  #memory: Buffer = Buffer.alloc(0);
  /** The part of the memory that holds bytes of the file. */
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;

  /** @param windowBytes how much is read at a time. */
  constructor(file: CloneFile, windowBytes: number) {
    this.#file = file;
    this.#windowBytes = windowBytes;
  }

  /** Bytes of the file from an offset: at least this many, or as many as there are. Valid until the next call. */
  async peek(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(offset + length, this.#file.size);
    if (offset < this.#start || end > this.#start + this.#buffer.length) await this.#load(offset, length);
    return this.#buffer.subarray(offset - this.#start);
  }

  async #load(offset: number, length: number): Promise<void> {
    if (offset > this.#file.size) throw damaged();
    const wanted = Math.max(length, this.#windowBytes);
    if (this.#memory.length < wanted) this.#memory = Buffer.allocUnsafe(wanted);
    const bytes = this.#memory.subarray(0, Math.min(wanted, this.#file.size - offset));
    this.#buffer = bytes.subarray(0, 0);
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await this.#file.handle.read(
        bytes,
        filled,
        bytes.length - filled,
        offset + filled,
      );
      if (bytesRead === 0) throw damaged();
      filled += bytesRead;
    }
    this.#buffer = bytes;
    this.#start = offset;
  }
}

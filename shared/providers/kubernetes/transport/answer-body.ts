import { createGunzip, type Gunzip } from 'node:zlib';
import { getErrorMessage } from '#core/errors.ts';
import { GatheredBytes } from '#core/gathered-bytes.ts';
import { AnswerLimitError, freeAnswerBytes, wireBytesMax } from '../api/answer-limits.ts';
import { type AnswerPlace, answerMemory } from './answer-memory.ts';

/** How a body is read. */
export interface AnswerBodyOptions {
  /** The account whose server sends it. */
  readonly account: string;
  /** Most bytes to read of it, decompressed. */
  readonly bytesMax: number;
  /** What to do with a larger one: fail, or leave out the rest. */
  readonly beyond: 'fail' | 'cut';
  /** Whether it is compressed with gzip. */
  readonly isCompressed: boolean;
  /** The connection, which can make the server wait. */
  readonly flow: { pause(): void; resume(): void };
  /** Called once with the body, or the part to read of it, unless `onFail` is called. */
  readonly onEnd: (body: HeldBody) => void;
  /** Called once if the body is broken or too large, unless `onEnd` is called. */
  readonly onFail: (error: Error) => void;
}

/** A body in memory. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** True if the rest is missing. */
  readonly isCut: boolean;
  /** Frees memory for other answers. Call it once nothing derived from the body is held any more; further calls do nothing. */
  release(): void;
}

const inflatedChunkBytes = 64 * 1024;

/**
 * Reads the body of an answer into memory within its limit, decompressing it as it arrives. A large one waits for memory in `answerMemory`,
 * and makes the server wait meanwhile.
 */
export class AnswerBody {
  readonly #options: AnswerBodyOptions;
  readonly #bytes = new GatheredBytes();
  readonly #gunzip: Gunzip | undefined;
  #wireBytes = 0;
  /** Why the server is made to wait. */
  readonly #holds = new Set<'inflating' | 'memory'>();
  #stopWaiting: (() => void) | undefined;
  #place: AnswerPlace | undefined;
  /** Whether everything has arrived. */
  #isComplete = false;
  #isClosed = false;

  constructor(options: AnswerBodyOptions) {
    this.#options = options;
    if (!options.isCompressed) return;
    this.#gunzip = createGunzip({ chunkSize: inflatedChunkBytes })
      .on('data', (part: Buffer) => this.#keep(part))
      .on('end', () => this.#complete())
      .on('drain', () => this.#letGo('inflating'))
      .on('error', (error) => this.#fail(new Error(describeBroken(error), { cause: error })));
  }

  /** Bytes received over the wire. */
  get wireBytes(): number {
    return this.#wireBytes;
  }

  /** Whether we are making the server wait. */
  get isHeld(): boolean {
    return this.#holds.size > 0;
  }

  /** Receives a part as it came over the wire. */
  take(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#wireBytes += chunk.length;
    if (this.#gunzip === undefined) {
      this.#keep(chunk);
    } else if (this.#wireBytes > wireBytesMax) {
      this.#fail(new AnswerLimitError(`has more than ${wireBytesMax} bytes compressed`, true));
    } else if (!this.#gunzip.write(chunk)) {
      this.#hold('inflating');
    }
  }

  /** Called when nothing more comes over the wire. */
  end(): void {
    if (this.#gunzip === undefined) this.#complete();
    else this.#gunzip.end();
  }

  /** Frees everything, unless it has been handed over. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#bytes.take();
    this.#gunzip?.destroy();
    this.#stopWaiting?.();
    this.#place?.release();
  }

  #keep(part: Buffer): void {
    if (this.#isClosed) return;
    const { bytesMax, beyond } = this.#options;
    const leftBytes = bytesMax - this.#bytes.length;
    this.#bytes.add(part.length > leftBytes ? part.subarray(0, leftBytes) : part);
    if (part.length > leftBytes) {
      if (beyond === 'cut') this.#handOver(true);
      else this.#fail(new AnswerLimitError(`has more than ${bytesMax} bytes`, true));
    } else if (this.#bytes.length > freeAnswerBytes && this.#stopWaiting === undefined) {
      this.#askForMemory();
    }
  }

  #askForMemory(): void {
    this.#stopWaiting = answerMemory.enter({
      account: this.#options.account,
      onEvicted: (error) => this.#fail(error),
      onPlaced: (place) => {
        this.#place = place;
        this.#letGo('memory');
        if (this.#isComplete) this.#handOver(false);
      },
    });
    if (this.#place === undefined) this.#hold('memory');
  }

  #complete(): void {
    this.#isComplete = true;
    if (!this.#holds.has('memory')) this.#handOver(false);
  }

  #handOver(isCut: boolean): void {
    if (this.#isClosed) return;
    const bytes = this.#bytes.take();
    const place = this.#place;
    this.#place = undefined;
    place?.settle();
    this.close();
    this.#options.onEnd({
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      isCut,
      release: () => place?.release(),
    });
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onFail(error);
  }

  #hold(reason: 'inflating' | 'memory'): void {
    this.#holds.add(reason);
    this.#options.flow.pause();
    if (reason === 'memory') this.#gunzip?.pause();
  }

  #letGo(reason: 'inflating' | 'memory'): void {
    if (!this.#holds.delete(reason) || this.#isClosed) return;
    if (reason === 'memory') this.#gunzip?.resume();
    // Not at once: another connection's data may have led here, and undici's parser handles one connection at a time.
    if (this.#holds.size === 0) setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    if (this.#holds.size === 0 && !this.#isClosed) this.#options.flow.resume();
  }
}

/** @param error of zlib */
export function describeBroken(error: unknown): string {
  return `its compressed answer is broken (${getErrorMessage(error)})`;
}

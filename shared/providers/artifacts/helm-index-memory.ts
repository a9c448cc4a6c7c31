import type { Clock } from '../../core/clock.ts';
import { GatheredBytes } from '../../core/gathered-bytes.ts';
import type { ContentVersion, DownloadAnswer } from './downloader.ts';

/** Milliseconds for which an index is remembered. */
export const helmIndexRememberedMs = 60_000;

/** Bytes of an index that is remembered; a larger one is read anew each time. */
export const helmIndexRememberedBytesMax = 2 ** 20;

/** What an index is read with. */
export interface HelmIndexMemoryOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asks for the index. @param known what is remembered of it; undefined for nothing */
  open(known: ContentVersion | undefined, signal: AbortSignal): Promise<DownloadAnswer>;
}

interface RememberedIndex {
  readonly version: ContentVersion;
  readonly bytes: Uint8Array;
  /** Monotonic time, milliseconds. */
  readonly untilMs: number;
}

/**
 * The index of one account's repository. The repository is asked each time, but need not send again what it sent within the last
 * minute: of that it is asked whether it is still the same, by `ETag` or `Last-Modified`.
 */
export class HelmIndexMemory {
  readonly #options: HelmIndexMemoryOptions;
  #remembered: RememberedIndex | undefined;

  constructor(options: HelmIndexMemoryOptions) {
    this.#options = options;
  }

  /** @throws what `Downloader.open` throws, and, while iterating, what its body does. */
  async read(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if (this.#remembered !== undefined && this.#remembered.untilMs <= this.#options.clock.monotonic()) {
      this.#remembered = undefined;
    }
    const known = this.#remembered;
    const answer = await this.#options.open(known?.version, signal);
    return known !== undefined && answer.isUnchanged ? toBody(known.bytes) : this.#pass(answer);
  }

  /** Passes a small index on when all of it is there, and remembers it. */
  async *#pass(answer: DownloadAnswer): AsyncGenerator<Uint8Array, void, undefined> {
    let gathered: GatheredBytes | undefined = new GatheredBytes();
    for await (const piece of answer.body) {
      if (gathered === undefined) {
        yield piece;
        continue;
      }
      gathered.add(piece);
      if (gathered.length <= helmIndexRememberedBytesMax) continue;
      yield gathered.take();
      gathered = undefined;
    }
    if (gathered === undefined) return;
    const bytes = gathered.take();
    this.#remember(answer, bytes);
    yield bytes;
  }

  #remember({ getHeader }: DownloadAnswer, bytes: Uint8Array): void {
    const version = { etag: getHeader('etag'), lastModified: getHeader('last-modified') };
    const untilMs = this.#options.clock.monotonic() + helmIndexRememberedMs;
    this.#remembered = version.etag || version.lastModified ? { version, bytes, untilMs } : undefined;
  }
}

async function* toBody(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

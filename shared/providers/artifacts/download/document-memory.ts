import { Readable } from 'node:stream';
import type { Clock } from '#core/clock.ts';
import { GatheredBytes } from '#core/gathered-bytes.ts';
import type { ContentVersion, DownloadAnswer } from './downloader.ts';

/** How long a document is remembered, milliseconds. */
export const documentRememberedMs = 60_000;

/** Bytes of remembered documents of an account, including their URLs and versions; a larger one is read again each time. */
export const documentsRememberedBytesMax = 2 ** 20;

interface DocumentMemoryOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Requests a document. @param known what is remembered of it; undefined for nothing */
  open(url: URL, known: ContentVersion | undefined, signal: AbortSignal): Promise<DownloadAnswer>;
}

interface RememberedDocument {
  readonly version: ContentVersion;
  readonly bytes: Uint8Array;
  /** Everything that it takes of the memory. */
  readonly size: number;
  /** Monotonic time, milliseconds. */
  readonly untilMs: number;
}

/**
 * Small documents of the servers of one account: indexes of charts, metadata of versions. The server is called each time, but need not send
 * again what it sent within the last minute: requests ask whether that is unchanged, by `ETag` or `Last-Modified`. If there is no room, the
 * oldest ones are forgotten.
 */
export class DocumentMemory {
  readonly #options: DocumentMemoryOptions;
  /** By URL, the oldest one first. */
  readonly #documents = new Map<string, RememberedDocument>();
  #bytes = 0;

  constructor(options: DocumentMemoryOptions) {
    this.#options = options;
  }

  /** @throws what `Downloader.open` throws, and, while iterating, what its body does. */
  async read(url: URL, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const nowMs = this.#options.clock.monotonic();
    for (const [href, { untilMs }] of this.#documents) if (untilMs <= nowMs) this.#forget(href);
    const known = this.#documents.get(url.href);
    const answer = await this.#options.open(url, known?.version, signal);
    return known !== undefined && answer.isUnchanged ? Readable.from([known.bytes]) : this.#pass(url, answer);
  }

  /** Passes on a small document once it is complete, and remembers it. */
  async *#pass(url: URL, answer: DownloadAnswer): AsyncGenerator<Uint8Array, void, undefined> {
    this.#forget(url.href);
    let gathered: GatheredBytes | undefined = new GatheredBytes();
    for await (const piece of answer.body) {
      if (gathered === undefined) {
        yield piece;
        continue;
      }
      gathered.add(piece);
      if (gathered.length <= documentsRememberedBytesMax) continue;
      yield gathered.take();
      gathered = undefined;
    }
    if (gathered === undefined) return;
    const bytes = gathered.take();
    this.#remember(url, answer, bytes);
    yield bytes;
  }

  #remember({ href }: URL, { getHeader }: DownloadAnswer, bytes: Uint8Array): void {
    const version = { etag: getHeader('etag'), lastModified: getHeader('last-modified') };
    const size = bytes.length + JSON.stringify([href, version]).length;
    if (!(version.etag || version.lastModified) || size > documentsRememberedBytesMax) return;
    this.#forget(href);
    for (const oldest of this.#documents.keys()) {
      if (this.#bytes + size <= documentsRememberedBytesMax) break;
      this.#forget(oldest);
    }
    // The buffer in which the bytes were gathered may be twice as large.
    const untilMs = this.#options.clock.monotonic() + documentRememberedMs;
    this.#documents.set(href, { version, bytes: bytes.slice(), size, untilMs });
    this.#bytes += size;
  }

  #forget(href: string): void {
    this.#bytes -= this.#documents.get(href)?.size ?? 0;
    this.#documents.delete(href);
  }
}

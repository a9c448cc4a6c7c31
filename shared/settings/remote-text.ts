import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';

/** A text as it was read. */
export interface RemoteReading {
  readonly text: string;
  /** When it was so where it lies, wall time in milliseconds. */
  readonly asOfMs: number;
  /** When to read it again, wall time in milliseconds. Left out, only when it is invalidated. */
  readonly readAgainAtMs?: number | undefined;
}

/** A text that lies elsewhere, and how to read it. */
export interface RemoteTextOptions {
  /** What it is, for errors and logs: `secret team/kubeconfig`. */
  readonly name: string;
  /** Reads it; its error says what is wrong and what to do. What was read last did not work where it `isInvalid`. */
  readonly read: (isInvalid: boolean) => Promise<RemoteReading>;
  /** Of the account that it belongs to, for logs. */
  readonly account: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What was so this short a time ago is not invalidated, and after a reading that failed the next one waits at least this long. */
const pauseMs = 10_000;

/**
 * A text from afar that is remembered. It is read again in the background from time to time, and at once when what was made of
 * it did not work. While it cannot be read, what was read last stays in use.
 */
export class RemoteText {
  readonly name: string;
  readonly #options: RemoteTextOptions;
  #text: string | undefined;
  #pending: Promise<string> | undefined;
  /** While it is read again because it is invalidated, for which all who rely on it wait. */
  #replacing: Promise<void> | undefined;
  #readAgainAtMs = Number.POSITIVE_INFINITY;
  #asOfMs = Number.NEGATIVE_INFINITY;
  #invalidatedAtMs = Number.NEGATIVE_INFINITY;
  #invalidated = false;

  constructor(options: RemoteTextOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** The text that is known, else the text as it reads now; callers at the same time share one reading. */
  async get(): Promise<string> {
    return this.#text ?? (await this.#read(false));
  }

  /** The text as it is known by now, for who asks each time. Waits for a reading only when there is none or it is invalidated. */
  async getCurrent(): Promise<string> {
    if (this.#text !== undefined) await this.differsFrom(this.#text);
    return this.get();
  }

  /** Whether another text than `text` is known by now. Waits for a reading only when the text is invalidated. */
  async differsFrom(text: string): Promise<boolean> {
    const now = this.#options.clock.now();
    if (this.#invalidated) this.#replacing = this.#replace();
    else if (now >= this.#readAgainAtMs) void this.#readAgain(false);
    await this.#replacing;
    return this.#text !== text;
  }

  /** Has the text read again before it is next relied on: what was made of it did not work. */
  invalidate(): void {
    // It may come from where processes share what one of them read long ago, so that its age counts, not when it came here.
    const sinceMs = Math.max(this.#asOfMs, this.#invalidatedAtMs);
    this.#invalidated = this.#options.clock.now() - sinceMs >= pauseMs;
  }

  async #replace(): Promise<void> {
    await this.#readAgain(true);
    this.#replacing = undefined;
  }

  async #readAgain(isInvalid: boolean): Promise<void> {
    const { clock, log, account } = this.#options;
    this.#invalidated = false;
    if (isInvalid) this.#invalidatedAtMs = clock.now();
    this.#readAgainAtMs = clock.now() + pauseMs;
    try {
      await this.#read(isInvalid);
    } catch (error) {
      const message = 'A kubeconfig or secret cannot be read again; the previous one stays in use';
      log.warn(message, { account, error: getErrorMessage(error) });
    }
  }

  #read(isInvalid: boolean): Promise<string> {
    this.#pending ??= this.#load(isInvalid).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #load(isInvalid: boolean): Promise<string> {
    const { text, asOfMs, readAgainAtMs } = await this.#options.read(isInvalid);
    this.#text = text;
    this.#asOfMs = asOfMs;
    this.#readAgainAtMs = readAgainAtMs ?? Number.POSITIVE_INFINITY;
    return text;
  }
}

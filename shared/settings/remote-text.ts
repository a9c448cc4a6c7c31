import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';

/** A text as it was read. */
export interface RemoteReading {
  readonly text: string;
  /** When the source had this text, wall time in milliseconds. */
  readonly asOfMs: number;
  /** When to read it again, wall time in milliseconds. Left out, only when it is invalidated. */
  readonly readAgainAtMs?: number | undefined;
}

/** A text from another system, and how to read it. */
export interface RemoteTextOptions {
  /** Its name in errors and logs: `secret team/kubeconfig`. */
  readonly name: string;
  /** Reads it; its error says what is wrong and what to do. `isInvalid`: the last text did not work. */
  readonly read: (isInvalid: boolean) => Promise<RemoteReading>;
  /** Its account, for logs. */
  readonly account: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds for which a reading is not invalidated, and after a failed reading the next one waits at least. */
const pauseMs = 10_000;

/**
 * A remembered text from another system. It is read again in the background from time to time, and at once when it did not work. While it
 * cannot be read, the last text stays in use.
 */
export class RemoteText {
  readonly name: string;
  readonly #options: RemoteTextOptions;
  #text: string | undefined;
  #pending: Promise<string> | undefined;
  /** Set while it is read again because it is invalidated: all users wait for that. */
  #replacing: Promise<void> | undefined;
  #readAgainAtMs = Number.POSITIVE_INFINITY;
  #asOfMs = Number.NEGATIVE_INFINITY;
  #invalidatedAtMs = Number.NEGATIVE_INFINITY;
  #invalidated = false;

  constructor(options: RemoteTextOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** The known text, or else the current one; simultaneous callers share one reading. */
  async get(): Promise<string> {
    return this.#text ?? (await this.#read(false));
  }

  /** The text as known now, for callers that ask each time. Waits for a reading only when there is none or it is invalidated. */
  async getCurrent(): Promise<string> {
    if (this.#text !== undefined) await this.differsFrom(this.#text);
    return this.get();
  }

  /** Whether a text other than `text` is known now. Waits for a reading only when the text is invalidated. */
  async differsFrom(text: string): Promise<boolean> {
    const now = this.#options.clock.now();
    if (this.#invalidated) this.#replacing = this.#replace();
    else if (now >= this.#readAgainAtMs) void this.#readAgain(false);
    await this.#replacing;
    return this.#text !== text;
  }

  /** Has the text read again before its next use: it did not work. */
  invalidate(): void {
    // It may come from where processes share what one of them read long ago, so its age counts, not its arrival.
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

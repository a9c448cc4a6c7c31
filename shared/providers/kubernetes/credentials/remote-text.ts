import type { Clock } from '../../../core/clock.ts';
import { getErrorMessage } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';

/** A text that lies elsewhere, and how to read it. */
export interface RemoteTextOptions {
  /** What it is, for errors and logs: `secret team/kubeconfig`. */
  readonly name: string;
  /** Reads it anew; its error says what is wrong and what to do. */
  readonly read: () => Promise<string>;
  /** It is read again after this long, milliseconds. Left out, only when it is distrusted. */
  readonly lifetimeMs?: number | undefined;
  /** Of the account that it belongs to, for logs. */
  readonly account: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After a reading that failed, or one that was asked for out of distrust, the next one waits at least this long. */
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
  #readAgainAtMs = Number.POSITIVE_INFINITY;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  #distrusted = false;

  constructor(options: RemoteTextOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** The text that is known, else the text as it reads now; callers at the same time share one reading. */
  async get(): Promise<string> {
    return this.#text ?? (await this.#read());
  }

  /** Whether another text than `text` is known by now. Waits for a reading only when the text is distrusted. */
  async differsFrom(text: string): Promise<boolean> {
    const now = this.#options.clock.now();
    if (this.#distrusted) await this.#readAgain();
    else if (now >= this.#readAgainAtMs) void this.#readAgain();
    return this.#text !== text;
  }

  /** Has the text read again before it is next relied on: what was made of it did not work. */
  distrust(): void {
    this.#distrusted = this.#options.clock.now() - this.#lastReadMs >= pauseMs;
  }

  async #readAgain(): Promise<void> {
    const { clock, log, account } = this.#options;
    this.#distrusted = false;
    this.#readAgainAtMs = clock.now() + pauseMs;
    try {
      await this.#read();
    } catch (error) {
      const message = 'A kubeconfig cannot be read again; the previous one stays in use';
      log.warn(message, { account, error: getErrorMessage(error) });
    }
  }

  #read(): Promise<string> {
    this.#pending ??= this.#load().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #load(): Promise<string> {
    const { clock, read, lifetimeMs = Number.POSITIVE_INFINITY } = this.#options;
    this.#lastReadMs = clock.now();
    this.#text = await read();
    this.#readAgainAtMs = clock.now() + lifetimeMs;
    return this.#text;
  }
}

import type { Hint } from '#agents/agent-connections.ts';
import type { Welcome } from '#agents/protocol/messages.ts';
import type { Clock } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';

/** How a connection for hints ended. */
export interface HintEnd {
  /** As WebSocket has it, whatever the connection is made of; 1006 where it was lost. */
  readonly code: number;
  /** How long it was open, milliseconds. */
  readonly lastedMs: number;
  /** Milliseconds after which to come again, where Busdriver refused it and said so. Default: it does not say. */
  readonly retryAfterMs?: number;
}

/** One connection over which Busdriver sends hints of work. */
export interface HintLine {
  /** Resolves when it has ended. */
  readonly ended: Promise<HintEnd>;
  /** Waits until it is open. @returns false where it ended before, or took too long */
  waitUntilOpen(): Promise<boolean>;
  /** Ends it, whether or not the other side hears of it. */
  close(): void;
}

/** Dependencies of making a connection. */
export interface HintLineOptions {
  /** The session that it is for. */
  readonly welcome: Pick<Welcome, 'session' | 'token' | 'hintUrl'>;
  readonly clock: Clock;
  readonly log: Logger;
  onHint(hint: Hint): void;
}

/** Code of a connection that was lost: RFC 6455. */
export const lostCode = 1006;

/** Milliseconds that a connection may take until it is open. */
const openMs = 10_000;

/** What all connections have in common, whatever they are made of. */
export abstract class OpeningLine implements HintLine {
  readonly #clock: Clock;
  readonly #ended = Promise.withResolvers<HintEnd>();
  readonly #opened = Promise.withResolvers<boolean>();
  readonly #over = new AbortController();
  #openedAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ended(): Promise<HintEnd> {
    return this.#ended.promise;
  }

  /** Aborted when it has ended. */
  protected get over(): AbortSignal {
    return this.#over.signal;
  }

  async waitUntilOpen(): Promise<boolean> {
    void waits(this.#clock, openMs, this.over).then((isLate) => {
      if (isLate && this.#openedAtMs === undefined) this.close();
    });
    return this.#opened.promise;
  }

  abstract close(): void;

  protected noteOpen(): void {
    this.#openedAtMs = this.#clock.monotonic();
    this.#opened.resolve(true);
  }

  /** @param retryAfterMs 0 where Busdriver does not say */
  protected noteEnd(code: number, retryAfterMs = 0): void {
    const nowMs = this.#clock.monotonic();
    const end = { code, lastedMs: nowMs - (this.#openedAtMs ?? nowMs) };
    this.#ended.resolve(retryAfterMs === 0 ? end : { ...end, retryAfterMs });
    // The waiting code looks at the end.
    this.#opened.resolve(false);
    this.#over.abort('it has ended');
  }
}

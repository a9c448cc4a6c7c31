import { HttpError } from './http-error.ts';

/** Of each sort, what is let in within any second: sessions of agents, and connections that are taken over. */
export const connectsPerSecond = 25;

/** Milliseconds in which so many are let in. */
const windowMs = 1_000;

/** Seconds after which who is refused is to come again, at most. */
const retrySecondsMax = 60;

/**
 * Lets in so many within any second, whatever those outside do: a thousand agents whose server is back ask at one moment. Who is refused is
 * told another second than the others, so that they do not come together again.
 */
export class ConnectGate {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** When the last ones were let in, the oldest first. */
  readonly #times: number[] = [];
  /** Up to when those who were refused are told to come. */
  #promisedMs = 0;

  /** @param now milliseconds, default `performance.now` */
  constructor(perSecond: number = connectsPerSecond, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Lets one in. @throws HttpError 503 with `Retry-After` where there were too many within the last second */
  enter(): void {
    const nowMs = this.#now();
    while ((this.#times[0] ?? nowMs) <= nowMs - windowMs) this.#times.shift();
    if (this.#times.length < this.#perSecond) {
      this.#times.push(nowMs);
      return;
    }
    throw new HttpError(503, `More than ${this.#perSecond} agents connect within a second; try again`, {
      'Retry-After': String(this.#promise(nowMs)),
    });
  }

  /** @returns seconds */
  #promise(nowMs: number): number {
    const lastMs = nowMs + retrySecondsMax * 1_000;
    this.#promisedMs = Math.min(lastMs, Math.max(this.#promisedMs, nowMs) + windowMs / this.#perSecond);
    return Math.max(1, Math.ceil((this.#promisedMs - nowMs) / 1_000));
  }
}

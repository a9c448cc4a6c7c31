import type { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { Clock } from '#core/clock.ts';
import { waitAtMost } from '#core/deadline.ts';
import { AnswerLimitError, errorBytesMax } from '../api/answer-limits.ts';
import { findOutage } from './connection-failure.ts';
import {
  ExchangeError,
  exchange,
  ServerDownError,
  ServerSilentError,
  type SilenceProbe,
} from './exchange.ts';
import { createPool, type Session } from './session.ts';

/** When a server that answers nothing counts as dead, in milliseconds. */
export interface LivenessProbeTimes {
  /** How long a request waits for the beginning of its answer before the server is probed. */
  readonly probeAfterMs: number;
  /** How long the server may take to answer the probe, counting only time in which this process is awake. */
  readonly probeMs: number;
}

/** The options of a probe. */
export interface LivenessProbeOptions {
  /** The account whose server is probed. */
  readonly account: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Receives the results. */
  readonly breaker: AccountBreaker;
  readonly times?: LivenessProbeTimes | undefined;
}

/** How long operations that can wait give a probe that another caller makes, in milliseconds. */
const answerSoonMs = 250;

/** A starved API server answers after five seconds: it is slow, not dead. */
const usualTimes: LivenessProbeTimes = { probeAfterMs: 4_000, probeMs: 10_000 };
/** Parts in which a probe's time is counted. */
const probeParts = 8;
/** Upper limit of a probe, awake or not, as a multiple of `probeMs`. */
const probeTimesMax = 10;
/**
 * Asks whether the API server's process is up. The request bypasses an API server's queues, and does not wait for its store: a server that
 * is merely busy answers.
 */
const probePath = '/livez?exclude=etcd';
const silence = 'it answers nothing, not even whether it is alive';

/**
 * Distinguishes a slow server from a dead one, which accepts connections and answers nothing: each request to that would occupy a worker
 * for its whole time-out, at the expense of other accounts. While a server is dead, requests to it fail at once.
 */
export class LivenessProbe {
  readonly #account: string;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #breaker: AccountBreaker;
  readonly #times: LivenessProbeTimes;
  #probing: Promise<boolean> | undefined;

  constructor({ account, clock, breaker, times = usualTimes }: LivenessProbeOptions) {
    this.#account = account;
    this.#clock = clock;
    this.#breaker = breaker;
    this.#times = times;
  }

  /** Undefined at once unless the server is known to be unreachable. @throws ExchangeError if it still is */
  requireAlive(session: Session): Promise<void> | undefined {
    return this.#breaker.isOpen ? this.#recheck(session) : undefined;
  }

  /** Whether an unreachable server is back. @param pauseMs least time since the last probe */
  async isReachable(session: Session, pauseMs: number): Promise<boolean> {
    if (this.#probing === undefined && this.#breaker.takeProbe(pauseMs)) return this.#isAlive(session);
    // A server that is back answers at once; other callers do not wait for a silent one.
    if (this.#probing !== undefined) await waitAtMost(this.#clock, answerSoonMs, this.#probing);
    return !this.#breaker.isOpen;
  }

  /** The probe for a request in flight. */
  watch(session: Session): SilenceProbe {
    return {
      probeAfterMs: this.#times.probeAfterMs,
      // Another request may have found out while this one's timer was late.
      isAlive: async () => !this.#breaker.isOpen && (await this.#isAlive(session)),
    };
  }

  async #recheck(session: Session): Promise<void> {
    // One request at a time finds out; the others need not wait for it.
    const isDue = this.#probing === undefined && this.#breaker.takeProbe();
    if (isDue && (await this.#isAlive(session))) return;
    throw new ExchangeError(new ServerDownError(this.#breaker.downReason), false);
  }

  /** Simultaneous requests share one probe. */
  #isAlive(session: Session): Promise<boolean> {
    this.#probing ??= this.#probe(session).finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /** Any answer counts. The connection is new: the others may all be waiting. */
  async #probe({ connection, credential, headers }: Session): Promise<boolean> {
    const dispatcher = createPool(connection, credential, 1);
    const { origin, basePath } = connection;
    const target = { dispatcher, origin, path: basePath + probePath, method: 'GET', headers };
    const timeoutMs = this.#times.probeMs * probeTimesMax;
    const bounds = { account: this.#account, answerBytesMax: errorBytesMax, timeoutMs };
    using time = countAwakeTime(this.#times.probeMs);
    try {
      const answer = await exchange({ ...target, ...bounds, body: undefined, signal: time.signal });
      answer.release();
      await this.#breaker.noteAlive();
      return true;
    } catch (error) {
      if (error instanceof ExchangeError && error.cause instanceof AnswerLimitError) {
        await this.#breaker.noteAlive();
        return true;
      }
      const outage = error instanceof ExchangeError ? findOutage(error) : undefined;
      await this.#breaker.noteDeath(outage ?? silence);
      return false;
    } finally {
      void dispatcher.destroy();
    }
  }
}

/**
 * A signal that aborts once the process has been awake for this long. A process that was suspended, alone or with its machine, finds its
 * timers due before it reads the answers received meanwhile: it must not take the server for dead.
 */
function countAwakeTime(ms: number): { readonly signal: AbortSignal } & Disposable {
  const over = new AbortController();
  let parts = 0;
  const timer = setInterval(() => {
    parts += 1;
    if (parts === probeParts) over.abort(new ServerSilentError('it did not say in time that it is alive'));
  }, ms / probeParts);
  return { signal: over.signal, [Symbol.dispose]: () => clearInterval(timer) };
}

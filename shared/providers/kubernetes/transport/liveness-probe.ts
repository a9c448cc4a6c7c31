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

/** How soon a server that answers nothing counts as dead, in milliseconds. */
export interface LivenessProbeTimes {
  /** How long a request waits for the beginning of its answer before the server is asked whether it is alive. */
  readonly probeAfterMs: number;
  /** How long the server may take to say so, of the time in which this process is awake. */
  readonly probeMs: number;
}

/** What a probe works with. */
export interface LivenessProbeOptions {
  /** Whose server it is. */
  readonly account: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Is told what is found. */
  readonly breaker: AccountBreaker;
  readonly times?: LivenessProbeTimes | undefined;
}

/** How long those who could wait give a probe that somebody else makes, in milliseconds. */
const answerSoonMs = 250;

/** An API server that starves says after five seconds that it is alive: it is slow, not dead. */
const usualTimes: LivenessProbeTimes = { probeAfterMs: 4_000, probeMs: 10_000 };
/** Parts in which the time of a probe is counted. */
const probeParts = 8;
/** The bound of a probe whatever the process did meanwhile, in its times. */
const probeTimesMax = 10;
/**
 * Asks whether the API server's process is up. It comes past all queues of an API server, and does not wait for its store: one
 * that is merely busy answers.
 */
const probePath = '/livez?exclude=etcd';
const silence = 'it answers nothing, not even whether it is alive';

/**
 * Tells a server that takes its time from a dead one that accepts connections and answers nothing: requests to that would each
 * hold a worker for their whole time-out, and keep it from other accounts. While a server is dead requests to it fail at once.
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

  /** Undefined at once unless the server is known to be away. @throws ExchangeError when it still is */
  requireAlive(session: Session): Promise<void> | undefined {
    return this.#breaker.isOpen ? this.#recheck(session) : undefined;
  }

  /** Of a server that is away: whether it has come back. @param pauseMs since it was asked last */
  async isReachable(session: Session, pauseMs: number): Promise<boolean> {
    if (this.#probing === undefined && this.#breaker.takeProbe(pauseMs)) return this.#isAlive(session);
    // A server that is back says so at once; nobody else waits for one that is silent.
    if (this.#probing !== undefined) await waitAtMost(this.#clock, answerSoonMs, this.#probing);
    return !this.#breaker.isOpen;
  }

  /** For a request under way. */
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

  /** Requests that want to know at the same time share one probe. */
  #isAlive(session: Session): Promise<boolean> {
    this.#probing ??= this.#probe(session).finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /** Whatever is answered, it is an answer. The connection is a new one: the others may all be waiting. */
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
 * A signal that is aborted when the process was awake for so long. One that stood still, with its machine or for itself, finds its
 * timers due before it reads the answers that have come meanwhile: it must not take the server for dead.
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

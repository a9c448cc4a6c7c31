import type { Clock } from '../../../core/clock.ts';
import { AnswerLimitError, errorBytesMax } from '../api/answer-limits.ts';
import { ExchangeError, exchange, ServerSilentError, type SilenceCheck } from './exchange.ts';
import { createPool, type Session } from './session.ts';

/** How soon a server that answers nothing counts as dead, in milliseconds. */
export interface PulseTimes {
  /** How long a request waits for the beginning of its answer before the server is asked whether it is alive. */
  readonly patienceMs: number;
  /** How long the server may take to say so, of the time in which this process is awake. */
  readonly probeMs: number;
}

const usualTimes: PulseTimes = { patienceMs: 4_000, probeMs: 4_000 };
/** Parts in which the time of a probe is counted. */
const probeParts = 8;
/** The bound of a probe whatever the process did meanwhile, in its times. */
const probeTimesMax = 10;
/** A server found dead is asked again no sooner than this. */
const recheckPauseMs = 2_000;
/**
 * Asks whether the API server's process is up. It comes past all queues of an API server, and does not wait for its store: one
 * that is merely busy answers.
 */
const probePath = '/livez?exclude=etcd';

/**
 * Tells a server that takes its time from a dead one that accepts connections and answers nothing: requests to that would each
 * hold a worker for their whole time-out, and keep it from other accounts. While a server is dead requests to it fail at once.
 */
export class ServerPulse {
  readonly #account: string;
  readonly #clock: Clock;
  readonly #times: PulseTimes;
  #probing: Promise<boolean> | undefined;
  /** Monotonic time of the last probe that found the server dead. */
  #deadAtMs: number | undefined;

  /** @param account whose server it is */
  constructor(account: string, clock: Clock, times: PulseTimes = usualTimes) {
    this.#account = account;
    this.#clock = clock;
    this.#times = times;
  }

  /** Undefined at once unless the server was found dead. @throws ExchangeError when it still is */
  requireAlive(session: Session): Promise<void> | undefined {
    return this.#deadAtMs === undefined ? undefined : this.#recheck(session, this.#deadAtMs);
  }

  /** For a request under way. */
  watch(session: Session): SilenceCheck {
    return { patienceMs: this.#times.patienceMs, isAlive: () => this.#isAlive(session) };
  }

  async #recheck(session: Session, deadAtMs: number): Promise<void> {
    // One request at a time finds out; the others need not wait for it.
    const isDue = this.#probing === undefined && this.#clock.monotonic() - deadAtMs >= recheckPauseMs;
    if (isDue && (await this.#isAlive(session))) return;
    const error = new ServerSilentError('it answers nothing, not even whether it is alive');
    throw new ExchangeError(error, false);
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
      this.#deadAtMs = undefined;
    } catch (error) {
      const isAnswer = error instanceof ExchangeError && error.cause instanceof AnswerLimitError;
      this.#deadAtMs = isAnswer ? undefined : this.#clock.monotonic();
    } finally {
      void dispatcher.destroy();
    }
    return this.#deadAtMs === undefined;
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

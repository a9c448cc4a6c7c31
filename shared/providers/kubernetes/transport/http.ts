import type { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { untilAborted } from '#core/deadline.ts';
import { mayBeRenewed } from '#tasks/late-credentials.ts';
import { objectBytesMax } from '../api/answer-limits.ts';
import {
  isForCredentials,
  isUnreadableRequest,
  KubernetesApiError,
  KubernetesConnectionError,
  parseApiError,
} from '../api/errors.ts';
import { describeConnectionFailure, findOutage, isTransientFailure } from './connection-failure.ts';
import {
  ExchangeError,
  exchange,
  ServerDownError,
  type SilenceProbe,
  type WireAnswer,
  type WireRequest,
} from './exchange.ts';
import { LivenessProbe, type LivenessProbeTimes } from './liveness-probe.ts';
import type { RequestBudget } from './request-budget.ts';
import { type Failure, parseRetryAfter, planRetry } from './retry.ts';
import type { Session, SessionKeeper } from './session.ts';

/** One call of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/api` or `/apis` on, with the query. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** Of the body; default `application/json`. */
  readonly contentType?: string | undefined;
  /** Default `application/json`. */
  readonly accept?: string | undefined;
  /** True to accept a compressed answer: worth it for lists only. */
  readonly compressed?: boolean | undefined;
  /** Most bytes of a successful answer, decompressed. Default: `objectBytesMax`. */
  readonly answerBytesMax?: number | undefined;
  /** ETag of what is known: an answer that it is still so is a success without text. */
  readonly ifNoneMatch?: string | undefined;
  /** True when sending it twice leaves what sending it once leaves; default: true for GET alone. */
  readonly repeatable?: boolean | undefined;
  /** True to send it again for as long as it may be sent, and not four times, while the server answers that it failed. Default: false. */
  readonly persists?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The text of a successful answer, with the memory that it takes. */
export interface HeldText {
  readonly text: string;
  /** As the server gave it; undefined where it gives none. */
  readonly etag: string | undefined;
  /** True where the request's `ifNoneMatch` still holds. */
  readonly isUnchanged: boolean;
  /** Gives memory to other large answers. To be called when nothing made of the text is held any more; again does nothing. */
  release(): void;
}

/** What a transport works with. */
export interface TransportOptions {
  /** The account's name: its large answers share memory with those of others. */
  readonly account: string;
  readonly sessions: SessionKeeper;
  readonly budget: RequestBudget;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Knows whether the account's server can be reached, and is told. */
  readonly breaker: AccountBreaker;
  /** Bound of one try; no try begins later than this after the first. */
  readonly requestTimeoutMs: number;
  /** How soon a server that answers nothing counts as dead. Default: after 14 s. */
  readonly probeTimes?: LivenessProbeTimes | undefined;
}

/** What one try came to. */
export type TryOutcome<T> =
  | { readonly value: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/**
 * One try of a request, told how to find out whether a silent server is alive. It throws ExchangeError when the server did not
 * answer, or the request's signal's reason.
 */
export type RequestTry<T> = (session: Session, silence: SilenceProbe) => Promise<TryOutcome<T>>;

/** What other processes know is looked at again for operations that could wait, when the last look is older than this. */
const learnAgainMs = 5_000;

/** A server for which operations wait is asked no sooner than this after the last time: a silent one takes a worker for seconds. */
const waitingProbePauseMs = 15_000;

/** What everybody may read who has credentials that hold: without them it is answered 401. */
const credentialsPath = '/version';

/** The status by which a server says that what is known still holds. */
const notModified = 304;

/** Statuses by which an API server, or what stands before it, says: not now. */
const transientStatuses = new Set([429, 500, 502, 503, 504]);

/**
 * Sends requests to one account's API server, within its budget, again where that is safe.
 *
 * What is sent again: anything that surely was not acted upon (never sent, 429, a 5xx with Retry-After), and
 * repeatable requests also after a 500, 502, 503, 504 or a broken connection: at most four tries, but for requests that persist. A create that broke
 * midway is the caller's to look into. A time-out is final, and so is a server that does not even say that it is alive. A 401 renews the credential once. Where no connection comes about,
 * the account's kubeconfig is looked at again once.
 */
export class ApiTransport {
  readonly #options: TransportOptions;
  readonly #probeTimes: LivenessProbe;
  #checking: Promise<boolean> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#probeTimes = new LivenessProbe({ ...options, times: options.probeTimes });
  }

  /**
   * The body of a successful answer.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason.
   */
  async send(request: ApiRequest): Promise<string> {
    const { text, release } = await this.sendHeld(request);
    release();
    return text;
  }

  /**
   * As `send`; what is made of the text counts as a large answer until it is released.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason.
   */
  sendHeld(request: ApiRequest): Promise<HeldText> {
    return this.sendBy(request, (session, silence) => this.#exchange({ session, request, silence }));
  }

  /**
   * What a successful try of a request gives, for requests whose answers are read in another way than whole.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason.
   */
  async sendBy<T>(request: ApiRequest, tryOnce: RequestTry<T>): Promise<T> {
    const { clock, budget, breaker, sessions, requestTimeoutMs, randomness } = this.#options;
    const deadlineMs = clock.monotonic() + requestTimeoutMs;
    let renewed = false;
    let rechecked = false;
    for (let tries = 1; ; tries += 1) {
      request.signal?.throwIfAborted();
      await budget.take(request.signal);
      const learning = breaker.learn();
      const session = await this.getSession(request.signal);
      if (learning !== undefined) await learning;
      const outcome = await this.#try({ session, request, tryOnce });
      if (outcome.failure === undefined) return outcome.value;
      const { failure } = outcome;
      if (isUnauthorized(failure.error)) {
        if (renewed) await breaker.noteRefusal('its API server refuses its credentials (401)');
        else sessions.refuse(session);
        if (!renewed) {
          renewed = true;
          continue;
        }
      }
      if (isUnconnected(failure) && !rechecked) {
        rechecked = true;
        if (await this.#isOutdated(session, request)) continue;
      }
      const pauseMs = planRetry(failure, {
        tries,
        remainingMs: deadlineMs - clock.monotonic(),
        repeatable: request.repeatable ?? request.method === 'GET',
        persists:
          request.persists === true &&
          failure.error instanceof KubernetesApiError &&
          !isUnreadableRequest(failure.error),
        randomFraction: randomness.fraction(),
      });
      if (pauseMs === undefined) throw failure.error;
      await clock.sleep(pauseMs, request.signal);
    }
  }

  /** The session that a request of now would use. */
  async getSession(signal?: AbortSignal): Promise<Session> {
    try {
      return await untilAborted(this.#options.sessions.get(), signal);
    } catch (error) {
      if (isForCredentials(error)) this.#options.breaker.noteMissingCredentials();
      throw error;
    }
  }

  /**
   * Whether calls are made: the server is not known to be away, or has just said that it is back. One that refuses credentials that worked
   * lately counts as away, as long as it does. Never rejects.
   */
  async isReachable(): Promise<boolean> {
    const { breaker } = this.#options;
    await breaker.learnUnlessBusy(learnAgainMs);
    if (!breaker.isOpen) return !this.#mayBeAdmittedLater() || this.#isAdmitted();
    try {
      return await this.#probeTimes.isReachable(await this.getSession(), waitingProbePauseMs);
    } catch {
      // Without a session there is nobody to ask: what is wrong is told by the first call.
      return true;
    }
  }

  #mayBeAdmittedLater(): boolean {
    const { breaker, clock } = this.#options;
    return breaker.lacksCredentials && mayBeRenewed(breaker.health.lastSuccessMs, clock.now());
  }

  /** Whether the credentials of now are taken. Callers at the same time share a call, and those a moment later take the answer for no. */
  async #isAdmitted(): Promise<boolean> {
    if (this.#checking === undefined && !this.#options.breaker.takeProbe(waitingProbePauseMs)) return false;
    this.#checking ??= this.send({ method: 'GET', path: credentialsPath })
      .then(
        () => true,
        (error: unknown) => !isForCredentials(error),
      )
      .finally(() => {
        this.#checking = undefined;
      });
    return this.#checking;
  }

  /** The server answered with this status. Undefined where there is nothing to wait for. */
  noteAnswer(status: number): Promise<void> | undefined {
    return status === 401 ? undefined : this.#options.breaker.noteAnswer();
  }

  /** Whether another session than this one, with which no connection came about, is worth a try. */
  async #isOutdated(session: Session, { signal }: ApiRequest): Promise<boolean> {
    try {
      return await untilAborted(this.#options.sessions.isOutdated(session), signal);
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  async #try<T>({ session, request, tryOnce }: OneTry<T>): Promise<TryOutcome<T>> {
    try {
      await untilAborted(this.#probeTimes.requireAlive(session), request.signal);
      return await tryOnce(session, this.#probeTimes.watch(session));
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      const outage = findOutage(error);
      if (outage !== undefined) await this.#options.breaker.noteFailure(outage);
      return { failure: toConnectionFailure(error, session) };
    }
  }

  async #exchange({ session, request, silence }: OneExchange): Promise<TryOutcome<HeldText>> {
    const { body, signal, answerBytesMax = objectBytesMax } = request;
    const { account, requestTimeoutMs: timeoutMs } = this.#options;
    const target = toWireTarget(session, request);
    const answer = await exchange({ ...target, account, answerBytesMax, body, timeoutMs, signal, silence });
    const telling = this.noteAnswer(answer.status);
    if (telling !== undefined) await telling;
    if (answer.status < 300 || isUnchanged(answer, request)) return { value: toHeldText(answer) };
    answer.release();
    return { failure: toStatusFailure(answer, session) };
  }
}

interface OneTry<T> {
  readonly session: Session;
  readonly request: ApiRequest;
  readonly tryOnce: RequestTry<T>;
}

interface OneExchange {
  readonly session: Session;
  readonly request: ApiRequest;
  readonly silence: SilenceProbe;
}

/** Where a request goes, and over what. */
export type WireTarget = Pick<WireRequest, 'dispatcher' | 'origin' | 'path' | 'method' | 'headers'>;

/** Where a request goes in a session. */
export function toWireTarget(session: Session, request: ApiRequest): WireTarget {
  const { connection, dispatcher } = session;
  const path = connection.basePath + request.path;
  return {
    dispatcher,
    origin: connection.origin,
    path,
    method: request.method,
    headers: getHeaders(session, request),
  };
}

function getHeaders(session: Session, request: ApiRequest): Readonly<Record<string, string | string[]>> {
  const { body, accept, compressed, ifNoneMatch } = request;
  const isPlain = body === undefined && accept === undefined && !compressed && ifNoneMatch === undefined;
  if (isPlain) return session.headers;
  return {
    ...session.headers,
    ...(accept !== undefined && { accept }),
    ...(compressed && { 'accept-encoding': 'gzip' }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
  };
}

function toHeldText({ status, headers, body, release }: WireAnswer): HeldText {
  return { text: body.toString('utf8'), etag: headers.etag, isUnchanged: status === notModified, release };
}

/** Whether an answer says that what is known still holds. Unasked, it says nothing. */
function isUnchanged({ status }: WireAnswer, { ifNoneMatch }: ApiRequest): boolean {
  return status === notModified && ifNoneMatch !== undefined;
}

/** What an answer that is no success means for another try. */
export function toStatusFailure(answer: StatusAnswer, session: Session): Failure {
  const error = parseApiError(answer.status, answer.body.toString('utf8'), answer.isCut);
  const retryAfterMs = parseRetryAfter(answer.headers['retry-after']);
  return {
    error: error.status === 401 ? withAdvice(error, session) : error,
    transient: transientStatuses.has(answer.status),
    harmless: answer.status === 429 || retryAfterMs !== undefined,
    retryAfterMs,
  };
}

/** An answer that is no success, as far as it was read. */
type StatusAnswer = Omit<WireAnswer, 'release'>;

/** "Unauthorized" is all that the server says: whose credentials are meant only we know. */
function withAdvice(error: KubernetesApiError, { connection, credential }: Session): KubernetesApiError {
  const { advice = 'renew them' } = credential;
  const message = `${error.message}: the API server refuses the credentials of ${connection.label}; ${advice}`;
  return new KubernetesApiError(error.status, error.reason, message).withDetails(error.details);
}

function toConnectionFailure(failure: ExchangeError, { connection }: Session): Failure {
  const cause = failure.cause instanceof Error ? failure.cause : failure;
  const message = `${connection.label}: ${describeConnectionFailure(cause, connection.origin)}`;
  const transient = isTransientFailure(cause);
  return {
    error: new KubernetesConnectionError(message, {
      cause,
      answerLost: failure.sent && transient,
      isDown: cause instanceof ServerDownError,
    }),
    transient,
    harmless: !failure.sent,
  };
}

function isUnconnected({ error, harmless }: Failure): boolean {
  return harmless && error instanceof KubernetesConnectionError;
}

function isUnauthorized(error: Error): boolean {
  return error instanceof KubernetesApiError && error.status === 401;
}

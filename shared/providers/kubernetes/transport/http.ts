import type { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { untilAborted } from '#core/deadline.ts';
import { VisibleError } from '#core/errors.ts';
import type { RequestBudget } from '#provider-kit/request-budget.ts';
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
import { type Failure, parseRetryAfter, planRetry } from './retry.ts';
import type { Session, SessionKeeper } from './session.ts';

/** One call of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/api` or `/apis` on, with the query. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** Type of the body; default `application/json`. */
  readonly contentType?: string | undefined;
  /** Default `application/json`. */
  readonly accept?: string | undefined;
  /** True to accept a compressed answer: worthwhile only for lists. */
  readonly compressed?: boolean | undefined;
  /** Most bytes of a successful answer, decompressed. Default: `objectBytesMax`. */
  readonly answerBytesMax?: number | undefined;
  /** ETag of the known version: an answer that it is unchanged is a success without text. */
  readonly ifNoneMatch?: string | undefined;
  /** W3C's header of this name. Default: that of the work within which it is made. */
  readonly traceparent?: string | undefined;
  /** True if sending it twice has the same effect as once; default: true only for GET. */
  readonly repeatable?: boolean | undefined;
  /** True to retry a request that the server fails until the time is over, not just for four tries. Default: false. */
  readonly persists?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The text of a successful answer, with the memory that it takes. */
export interface HeldText {
  readonly text: string;
  /** From the server; undefined if it sends none. */
  readonly etag: string | undefined;
  /** True if the request's `ifNoneMatch` still matches. */
  readonly isUnchanged: boolean;
  /** Frees memory for other large answers. Call it once nothing derived from the text is held any more; further calls do nothing. */
  release(): void;
}

/** The options of a transport. */
export interface TransportOptions {
  /** The account's name: its large answers share memory with those of others. */
  readonly account: string;
  readonly sessions: SessionKeeper;
  readonly budget: RequestBudget;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Knows, and is notified, whether the account's server can be reached. */
  readonly breaker: AccountBreaker;
  /** Time limit of one try; no try begins later than this after the first. */
  readonly requestTimeoutMs: number;
  /** When a server that answers nothing counts as dead. Default: after 14 s. */
  readonly probeTimes?: LivenessProbeTimes | undefined;
}

/** The outcome of one try. */
export type TryOutcome<T> =
  | { readonly value: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/**
 * One try of a request; `silence` is how to find out whether a silent server is alive. Throws ExchangeError if the server did not answer,
 * or the reason of the request's signal.
 */
export type RequestTry<T> = (session: Session, silence: SilenceProbe) => Promise<TryOutcome<T>>;

/** Operations that can wait check again what other processes know, if the last check is older than this. */
const learnAgainMs = 5_000;

/** Pause between two probes of a server for which operations wait: a silent one occupies a worker for seconds. */
const waitingProbePauseMs = 15_000;

/** A path that any valid credentials may read: without them the server answers 401. */
const credentialsPath = '/version';

/** The status for a version that is unchanged. */
const notModified = 304;

/** Statuses by which an API server, or a proxy before it, says: not now. */
const transientStatuses = new Set([429, 500, 502, 503, 504]);

/**
 * Sends requests to one account's API server, within its budget, and retries where that is safe.
 *
 * Retries anything that the server surely did not act upon (never sent, 429, a 5xx with Retry-After), and repeatable requests also after a
 * 500, 502, 503, 504 or a broken connection: at most four tries, except for requests that persist. Callers must check a create that broke
 * midway. A time-out is final, and so is a failed liveness probe. A 401 renews the credential once. If no connection can be made, the
 * account's kubeconfig is read again once.
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
   * Like `send`; what is derived from the text counts as a large answer until it is released.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason.
   */
  sendHeld(request: ApiRequest): Promise<HeldText> {
    return this.sendBy(request, (session, silence) => this.#exchange(session, request, silence));
  }

  /**
   * The result of a successful try, for requests whose answers are not read as a whole.
   *
   * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason.
   */
  async sendBy<T>(request: ApiRequest, tryOnce: RequestTry<T>): Promise<T> {
    const { account, clock, budget, breaker, sessions, requestTimeoutMs, randomness } = this.#options;
    const deadlineMs = clock.monotonic() + requestTimeoutMs;
    let renewed = false;
    let rechecked = false;
    for (let tries = 1; ; tries += 1) {
      request.signal?.throwIfAborted();
      await budget.take(request.signal);
      const learning = breaker.learn();
      const session = await this.getSession(request.signal);
      if (learning !== undefined) await learning;
      const beganMs = clock.monotonic();
      const outcome = await this.#try(session, request, tryOnce);
      const labels = {
        account,
        action: request.method.toLowerCase(),
        success: String(outcome.failure === undefined),
      };
      breaker.meter?.record('kubernetes_api', labels, (clock.monotonic() - beganMs) / 1_000);
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

  /** The session that a request would use now. */
  async getSession(signal?: AbortSignal): Promise<Session> {
    try {
      return await untilAborted(this.#options.sessions.get(), signal);
    } catch (error) {
      const { breaker } = this.#options;
      if (isForCredentials(error)) breaker.noteMissingCredentials();
      // Its words may name files and hosts, and everybody sees the health of accounts.
      if (error instanceof VisibleError)
        await breaker.noteMistake('its settings cannot be used: GET /cache/introspection says why');
      throw error;
    }
  }

  /**
   * Whether calls are made: the server is not known to be unreachable, or has just answered again. A server counts as unreachable while it
   * refuses credentials that worked recently. Never rejects.
   */
  async isReachable(): Promise<boolean> {
    const { breaker } = this.#options;
    await breaker.learnUnlessBusy(learnAgainMs);
    if (!breaker.isOpen) return !this.#mayBeAdmittedLater() || this.#isAdmitted();
    try {
      return await this.#probeTimes.isReachable(await this.getSession(), waitingProbePauseMs);
    } catch {
      // Without a session there is no server to ask: the first call reports what is wrong.
      return true;
    }
  }

  #mayBeAdmittedLater(): boolean {
    const { breaker, clock } = this.#options;
    return breaker.lacksCredentials && mayBeRenewed(breaker.health.lastSuccessMs, clock.now());
  }

  /** Whether the server accepts the current credentials. Simultaneous callers share a call; those shortly afterwards get false. */
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

  /** Notes that the server answered with this status. Undefined if there is nothing to wait for. */
  noteAnswer(status: number): Promise<void> | undefined {
    return status === 401 ? undefined : this.#options.breaker.noteAnswer();
  }

  /** Whether to try another session than this one, with which no connection could be made. */
  async #isOutdated(session: Session, { signal }: ApiRequest): Promise<boolean> {
    try {
      return await untilAborted(this.#options.sessions.isOutdated(session), signal);
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  async #try<T>(session: Session, request: ApiRequest, tryOnce: RequestTry<T>): Promise<TryOutcome<T>> {
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

  async #exchange(
    session: Session,
    request: ApiRequest,
    silence: SilenceProbe,
  ): Promise<TryOutcome<HeldText>> {
    const { body, signal, answerBytesMax = objectBytesMax } = request;
    const { account, requestTimeoutMs: timeoutMs } = this.#options;
    const { traceparent } = this.#options.breaker;
    const target = toWireTarget(session, traceparent === undefined ? request : { ...request, traceparent });
    const answer = await exchange({ ...target, account, answerBytesMax, body, timeoutMs, signal, silence });
    const telling = this.noteAnswer(answer.status);
    if (telling !== undefined) await telling;
    if (answer.status < 300 || isUnchanged(answer, request)) return { value: toHeldText(answer) };
    answer.release();
    return { failure: toStatusFailure(answer, session) };
  }
}

/** Where a request goes, and over which connections. */
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
  const { body, accept, compressed, ifNoneMatch, traceparent } = request;
  const isPlain = body === undefined && accept === undefined && !compressed && ifNoneMatch === undefined;
  if (isPlain && traceparent === undefined) return session.headers;
  return {
    ...session.headers,
    ...(traceparent !== undefined && { traceparent }),
    ...(accept !== undefined && { accept }),
    ...(compressed && { 'accept-encoding': 'gzip' }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
  };
}

function toHeldText({ status, headers, body, release }: WireAnswer): HeldText {
  return { text: body.toString('utf8'), etag: headers.etag, isUnchanged: status === notModified, release };
}

/** Whether an answer says that the known version is unchanged; false if that was not asked. */
function isUnchanged({ status }: WireAnswer, { ifNoneMatch }: ApiRequest): boolean {
  return status === notModified && ifNoneMatch !== undefined;
}

/** What an unsuccessful answer means for another try. */
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

/** An unsuccessful answer, as far as it was read. */
type StatusAnswer = Omit<WireAnswer, 'release'>;

/** The server says only "Unauthorized": only we know whose credentials it means. */
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

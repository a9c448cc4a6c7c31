import { AccountDownError, FailedOperationError, UnreachableError, VisibleError } from '#core/errors.ts';
import { asJsonObject, asString, isJsonObject, type JsonObject } from '#core/json.ts';
import { errorBytesMax } from './answer-limits.ts';
import { findJson } from './find-json.ts';

/**
 * An answer of the API server that is not a success. The message is the server's own (`Status.message`), or text with the status if it has
 * none.
 */
export class KubernetesApiError extends VisibleError {
  override name = 'KubernetesApiError';
  /** HTTP status: 404, 409, 422 … */
  readonly status: number;
  /** Kubernetes' machine-readable reason: `NotFound`, `Conflict`, `Invalid` …; empty if it gave none. */
  readonly reason: string;
  #details: JsonObject | undefined;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  /** `Status.details`: the object, and for an invalid one the causes by field. */
  get details(): JsonObject | undefined {
    return this.#details;
  }

  /** This error, with the details that the server gave. */
  withDetails(details: JsonObject | undefined): this {
    this.#details = details;
    return this;
  }
}

/** No answer came from the API server: refused, reset, timed out, TLS. The message names the account and the cause. */
export class KubernetesConnectionError extends VisibleError {
  override name = 'KubernetesConnectionError';
  /** True if the request was sent on a connection that then broke: see `isAnswerLost`. */
  readonly answerLost: boolean;
  /** True if the server was not called, since it could not be reached a moment ago. */
  readonly isDown: boolean;
  /** True if the server was not called, since there are no credentials for it. */
  readonly lacksCredentials: boolean;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly answerLost?: boolean;
      readonly isDown?: boolean;
      readonly lacksCredentials?: boolean;
    } = {},
  ) {
    super(message, options);
    this.answerLost = options.answerLost ?? false;
    this.isDown = options.isDown ?? false;
    this.lacksCredentials = options.lacksCredentials ?? false;
  }
}

/** Statuses by which an API server, or a proxy before it, reports a failure; it may already have acted. */
const lostStatuses: readonly number[] = [500, 502, 503, 504];

/**
 * True if it is unknown whether the server acted on a request, and the next request may well be answered: a writer must read the object
 * before it writes again. False for a time-out: a server that does not answer would not answer that either.
 */
export function isAnswerLost(error: unknown): boolean {
  if (error instanceof KubernetesApiError)
    return lostStatuses.includes(error.status) && !isUnreadableRequest(error);
  return error instanceof KubernetesConnectionError && error.answerLost;
}

/** Words of a 500 without a reason that refers to the API server's store, or to a call that it made itself. */
const passingTrouble =
  /etcd|rpc error|time[d-]? ?out|deadline|unavailable|connection|leader|\bEOF\b|cancell?ed|^HTTP 500/i;

/**
 * True for a 500 by which the API server reports an unreadable request, such as bad base64 in a Secret or a patch with wrong types: a
 * Status without a reason (`ErrorToAPIStatus` of k8s.io/apiserver, for errors of no known kind). Another try would not help.
 */
export function isUnreadableRequest(error: unknown): boolean {
  if (!(error instanceof KubernetesApiError) || error.status !== 500) return false;
  return error.reason === '' && !passingTrouble.test(error.message);
}

/** True if the server did not answer, or reported a temporary failure: nothing is known of what was requested. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof KubernetesApiError) return error.status === 429 || lostStatuses.includes(error.status);
  return error instanceof KubernetesConnectionError;
}

/** True for an error caused by refused or missing credentials. */
export function isForCredentials(error: unknown): boolean {
  if (error instanceof KubernetesApiError && error.status === 401) return true;
  if (error instanceof KubernetesConnectionError && error.lacksCredentials) return true;
  return error instanceof Error && error.cause !== undefined && isForCredentials(error.cause);
}

/** The error of a failed live read, for the caller: what it says of another try depends on the server's state. */
export function toLiveReadError(error: VisibleError, what: string): FailedOperationError {
  const isDown = error instanceof KubernetesConnectionError && error.isDown;
  const UnansweredError = isDown ? AccountDownError : UnreachableError;
  const LiveError = isUnreachable(error) ? UnansweredError : FailedOperationError;
  return new LiveError(`${what}: ${error.message}`, { cause: error });
}

/**
 * The error for an answer that is not a success, from its body: a Status object, or the text of a proxy or a mux.
 *
 * @param isCut true if the rest of the body was not read
 */
export function parseApiError(status: number, body: string, isCut = false): KubernetesApiError {
  const parsed = isCut ? undefined : parseStatus(body);
  const reason = asString(parsed?.['reason']) ?? '';
  const words = isCut && body.startsWith('{') ? unreadable : firstWords(body);
  const message = asString(parsed?.['message']) || `HTTP ${status}: ${reason || words}`;
  return new KubernetesApiError(status, reason, message).withDetails(asJsonObject(parsed?.['details']));
}

/** True if the server says that an object does not exist: this one, or its namespace. */
export function isObjectNotFound(error: unknown): error is KubernetesApiError {
  return isNotFound(error) && asString(error.details?.['name']) !== undefined;
}

/** True for a 404 that names no object: the server does not serve the resource at all. */
export function isResourceNotServed(error: unknown): error is KubernetesApiError {
  return isNotFound(error) && asString(error.details?.['name']) === undefined;
}

function isNotFound(error: unknown): error is KubernetesApiError {
  return error instanceof KubernetesApiError && error.status === 404;
}

function parseStatus(body: string): JsonObject | undefined {
  const value = body.startsWith('{') ? findJson(body) : undefined;
  return isJsonObject(value) && value['kind'] === 'Status' ? value : undefined;
}

/** Replaces an incomplete Status: it may quote a Secret in ways that cannot be recognized any more. */
const unreadable = `its explanation has more than ${errorBytesMax} bytes`;
/** Characters of a foreign page in which its first words are searched for. */
const pageStart = 4_096;

/** The readable part of an unknown body, for example a load balancer's page. */
function firstWords(body: string): string {
  const text = body
    .slice(0, pageStart)
    // A tag contains no `<`: otherwise each of many would be scanned to the end.
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? 'no explanation' : text.slice(0, 200);
}

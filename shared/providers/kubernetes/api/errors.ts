import { parseBoundedJson } from '#core/bounded-json.ts';
import { AccountDownError, FailedOperationError, UnreachableError, VisibleError } from '#core/errors.ts';
import { asJsonObject, asString, isJsonObject, type JsonObject } from '#core/json.ts';
import { answerJsonBounds, errorBytesMax } from './answer-limits.ts';

/**
 * An answer of the API server that is not a success. The message is the server's own (`Status.message`), with the
 * status in front when it has none.
 */
export class KubernetesApiError extends VisibleError {
  override name = 'KubernetesApiError';
  /** HTTP status: 404, 409, 422 … */
  readonly status: number;
  /** Kubernetes' machine-readable reason: `NotFound`, `Conflict`, `Invalid` …; empty when it gave none. */
  readonly reason: string;
  #details: JsonObject | undefined;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  /** `Status.details`: the object meant, and for an invalid one the causes field by field. */
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
  /** True when the request had gone out on a connection that then broke: see `isAnswerLost`. */
  readonly answerLost: boolean;
  /** True when the server was not asked, since it could not be reached a moment ago. */
  readonly isDown: boolean;
  /** True when the server was not asked, since there are no credentials for it. */
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

/** Statuses by which an API server, or what stands before it, says that it failed, whatever it did before. */
const lostStatuses: readonly number[] = [500, 502, 503, 504];

/**
 * True when nobody knows whether the server acted on a request, and the next one may well be answered: whoever wrote looks at
 * the object before writing again. A time-out is not meant: a server that does not answer will not tell either.
 */
export function isAnswerLost(error: unknown): boolean {
  if (error instanceof KubernetesApiError)
    return lostStatuses.includes(error.status) && !isUnreadableRequest(error);
  return error instanceof KubernetesConnectionError && error.answerLost;
}

/** Words by which a 500 without a reason speaks of the API server's store, or of a call that it made itself. */
const passingTrouble =
  /etcd|rpc error|time[d-]? ?out|deadline|unavailable|connection|leader|\bEOF\b|cancell?ed|^HTTP 500/i;

/**
 * True for a 500 by which the API server says that it cannot read what was sent, such as bad base64 in a Secret or a patch of the
 * wrong types: a Status without a reason (`ErrorToAPIStatus` of k8s.io/apiserver, for errors of no known kind). Another try changes nothing.
 */
export function isUnreadableRequest(error: unknown): boolean {
  if (!(error instanceof KubernetesApiError) || error.status !== 500) return false;
  return error.reason === '' && !passingTrouble.test(error.message);
}

/** True when the server did not answer, or said that it cannot for the moment: nothing is known of what was asked for. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof KubernetesApiError) return error.status === 429 || lostStatuses.includes(error.status);
  return error instanceof KubernetesConnectionError;
}

/** True when it came about since the server refused the credentials, or there were none. */
export function isForCredentials(error: unknown): boolean {
  if (error instanceof KubernetesApiError && error.status === 401) return true;
  if (error instanceof KubernetesConnectionError && error.lacksCredentials) return true;
  return error instanceof Error && error.cause !== undefined && isForCredentials(error.cause);
}

/** The error of a live read that failed so, for whoever asked: what it says of another try depends on how the server is. */
export function toLiveReadError(error: VisibleError, what: string): FailedOperationError {
  const isDown = error instanceof KubernetesConnectionError && error.isDown;
  const UnansweredError = isDown ? AccountDownError : UnreachableError;
  const LiveError = isUnreachable(error) ? UnansweredError : FailedOperationError;
  return new LiveError(`${what}: ${error.message}`, { cause: error });
}

/**
 * The error for an answer that is not a success, from its body: a Status object, or text of a proxy or a mux.
 *
 * @param isCut true when the rest of the body was not read
 */
export function parseApiError(status: number, body: string, isCut = false): KubernetesApiError {
  const parsed = isCut ? undefined : parseStatus(body);
  const reason = asString(parsed?.['reason']) ?? '';
  const words = isCut && body.startsWith('{') ? unreadable : firstWords(body);
  const message = asString(parsed?.['message']) || `HTTP ${status}: ${reason || words}`;
  return new KubernetesApiError(status, reason, message).withDetails(asJsonObject(parsed?.['details']));
}

/** True when the server says that an object does not exist: this one, or the namespace it was to be in. */
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
  if (!body.startsWith('{')) return undefined;
  try {
    const { value } = parseBoundedJson(body, answerJsonBounds);
    return isJsonObject(value) && value['kind'] === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What is said of half a Status: it may quote a Secret in ways that nobody can tell any more. */
const unreadable = `its explanation has more than ${errorBytesMax} bytes`;
/** Characters of a foreign page in which its first words are looked for. */
const pageStart = 4_096;

/** What is readable of a body that is not ours to understand, for example a load balancer's page. */
function firstWords(body: string): string {
  const text = body
    .slice(0, pageStart)
    // A tag holds no `<`: without that, each of many would be followed to the end.
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? 'no explanation' : text.slice(0, 200);
}

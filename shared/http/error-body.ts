import { STATUS_CODES } from 'node:http';
import type { ErrorBody, PlainErrorBody } from '#contract/answers/errors.ts';
import {
  AccessDeniedError,
  AccountDownError,
  ConflictError,
  InvalidInputError,
  MethodNotAllowedError,
  NotFoundError,
  OverdueError,
  OverloadError,
  PreconditionFailedError,
  RefusedChangeError,
  TooLargeError,
  UnauthenticatedError,
  UnavailableError,
  VisibleError,
} from '#core/errors.ts';
import { retryAfterSeconds } from '#core/request-limits.ts';

/** The body for a status, with Clouddriver's spelling of the time. */
export function toErrorBody(status: number, message: string, nowMs: number): ErrorBody {
  const timestamp = new Date(nowMs).toISOString().replace('Z', '+00:00');
  return { timestamp, status, error: STATUS_CODES[status] ?? 'Error', message };
}

/** The error body of go-clouddriver's own routes. */
export function toPlainErrorBody({ message, errors }: ErrorBody): PlainErrorBody {
  return { error: errors?.join('; ') ?? message };
}

/** Headers of a status: each 503 says when to try again. @param error the cause, which may say when */
export function toErrorHeaders(status: number, error?: unknown): { readonly [name: string]: string } {
  const seconds = error instanceof OverloadError ? error.retryAfterSeconds : retryAfterSeconds;
  return status === 503 ? { 'Retry-After': String(seconds) } : {};
}

/** The status and body for any error. The message of a defect stays in the log. */
export function parseError(error: unknown, nowMs: number): ErrorBody {
  const status = getStatus(error);
  if (!(error instanceof VisibleError)) {
    const message =
      status === 503 ? 'A store is away for the moment; try again' : 'Internal error; the log has it';
    return toErrorBody(status, message, nowMs);
  }
  if (!(error instanceof InvalidInputError)) return toErrorBody(status, error.message, nowMs);
  return { ...toErrorBody(status, 'Validation Failed', nowMs), errors: error.errors };
}

function getStatus(error: unknown): number {
  if (error instanceof InvalidInputError || error instanceof RefusedChangeError) return 400;
  if (error instanceof UnauthenticatedError) return 401;
  if (error instanceof AccessDeniedError) return 403;
  if (error instanceof NotFoundError) return 404;
  if (error instanceof MethodNotAllowedError) return 405;
  if (error instanceof ConflictError) return 409;
  if (error instanceof PreconditionFailedError) return 412;
  if (error instanceof TooLargeError) return 413;
  if (error instanceof OverdueError) return 504;
  if (error instanceof UnavailableError || error instanceof AccountDownError) return 503;
  if (isStoreAway(error)) return 503;
  return 500;
}

/** Codes of failed or lost connections. */
const lostConnections: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
]);

/**
 * Names of AWS services' throttling errors, including the SDK's own list: the SDK counts most as faults of the client, and marks only some
 * as retryable. In SQS' older names they come after a dot (`AWS.SimpleQueueService.RequestThrottled`).
 */
const throttles: ReadonlySet<string> = new Set([
  ...['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'LimitExceededException'],
  ...[
    'ThrottlingException',
    'Throttling',
    'ThrottledException',
    'ThrottlingError',
    'KmsThrottled',
    'OverLimit',
  ],
  ...['RequestThrottled', 'RequestThrottledException', 'TooManyRequestsException', 'SlowDown'],
  ...['BandwidthLimitExceeded', 'PriorRequestNotComplete', 'TransactionInProgressException'],
]);

/** Names of errors for calls that timed out, or were not even tried. */
const interruptions: ReadonlySet<string> = new Set([
  ...['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'BreakerOpenError'],
]);

/** Throttles, time-outs and lost connections of the AWS SDK: Orca repeats a POST only on 503. */
function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $retryable, $fault, code } = error as { $retryable?: unknown; $fault?: unknown; code?: unknown };
  if ($retryable !== undefined || $fault === 'server' || lostConnections.has(code)) return true;
  const name = error.name.slice(error.name.lastIndexOf('.') + 1);
  return throttles.has(name) || interruptions.has(name);
}

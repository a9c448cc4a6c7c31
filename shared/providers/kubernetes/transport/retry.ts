import { getPauseMs } from '#core/back-off.ts';
/** Why a try failed, as far as it matters for another try. */
export interface Failure {
  readonly error: Error;
  /** True if another try may well succeed. */
  readonly transient: boolean;
  /** True if the server surely did nothing: then anything may be sent again. */
  readonly harmless: boolean;
  /** How long the server asked us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** The state of a request's tries. */
export interface RetryState {
  /** Tries so far, from 1. */
  readonly tries: number;
  /** Time until the last moment at which another try may begin. */
  readonly remainingMs: number;
  /** True if sending the request twice has the same effect as once. */
  readonly repeatable: boolean;
  /** True to continue until no time remains, instead of stopping after four tries. */
  readonly persists: boolean;
  /** From 0 (inclusive) to 1 (exclusive), fresh for each pause. */
  readonly randomFraction: number;
}

const maximumTries = 4;
const backOff = { firstMs: 200, mostMs: 5_000 };
const maximumRetryAfterMs = 10_000;

/**
 * How long to wait before the next try, or undefined if there should be none: exponential with full jitter, but at least what the server
 * asked for, up to 10 s.
 */
export function planRetry(failure: Failure, state: RetryState): number | undefined {
  if (!failure.transient || (state.tries >= maximumTries && !state.persists)) return undefined;
  if (!failure.harmless && !state.repeatable) return undefined;
  const backOffMs = getPauseMs(backOff, state.tries, { fraction: () => state.randomFraction });
  const pauseMs = Math.min(failure.retryAfterMs ?? 0, maximumRetryAfterMs) + backOffMs;
  return pauseMs < state.remainingMs ? pauseMs : undefined;
}

/** The milliseconds of a `Retry-After` header, which Kubernetes writes in seconds; undefined if it holds none. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}

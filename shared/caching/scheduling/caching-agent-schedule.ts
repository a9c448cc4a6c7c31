import { getPauseMs } from '#core/back-off.ts';
import { hashText } from '../store/hash-text.ts';

/** Milliseconds between two runs of a caching agent unless its account sets another interval. */
export const defaultCachingAgentIntervalMs = 30_000;

/** Milliseconds without use after which an account is idle: 15 minutes. */
export const idleAfterMs = 15 * 60_000;

/** Milliseconds between two runs of a caching agent whose account is idle: 5 minutes. */
export const idleIntervalMs = 5 * 60_000;

/** Milliseconds after the use of an account was noted until it is noted again: 5 minutes. */
export const useRememberedMs = 5 * 60_000;

/** Milliseconds of back-off after the first failure, and at most, unless the interval is longer. */
export const retryDelayMs = { first: 30_000, most: 10 * 60_000 } as const;

/** Milliseconds of a worker's lease unless it renews it: the delay that a worker's death costs at most. No lease is longer. */
export const cachingAgentLeaseMs = 60_000;

/** Milliseconds by which a turn may be taken early: clocks differ. */
export const earlyToleranceMs = 1_000;

/** Milliseconds ahead for which messages are sent. The scheduler runs each minute: when it misses one, no turn is late. */
export const sentAheadMs = 120_000;

/** Slots of an interval: times at which turns begin. Caching agents of one slot share messages. */
export const slotsPerInterval = 6;

/** What the turns of a caching agent depend on. */
export interface Paced {
  readonly account: string;
  readonly intervalMs: number;
}

/**
 * The turn at a time: when it began, milliseconds since the epoch. Turns of a caching agent follow each other at its interval, in the slot
 * of its account: not all run at once, and those of a slot run together. Being times, turns can be compared even after the interval was
 * changed.
 */
export function getTurn({ account, intervalMs }: Paced, nowMs: number): number {
  const shiftMs = (hashText(account) % slotsPerInterval) * Math.floor(intervalMs / slotsPerInterval);
  return Math.floor((nowMs + shiftMs) / intervalMs) * intervalMs - shiftMs;
}

/** The turn that a worker may claim now: the next one when it is about to begin. */
export function getClaimableTurn(agent: Paced, nowMs: number): number {
  return getTurn(agent, nowMs + earlyToleranceMs);
}

/** How a caching agent did, and how much its account is used. */
export interface PaceOptions {
  readonly nowMs: number;
  /** The turn of its lease. */
  readonly turn: number;
  /** When its account was last read or deployed to, milliseconds. */
  readonly usedAtMs: number;
  /** Failures in a row, this run included. */
  readonly failures: number;
  /** From 0 to 1: spreads retries. */
  readonly fraction: number;
}

/**
 * When a caching agent runs next, at the beginning of a turn: after its interval, after 5 minutes if its account is idle, after a growing
 * delay if it failed. Turns that passed while it ran are skipped.
 */
export function getNextRunMs(agent: Paced, options: PaceOptions): number {
  const { turn, nowMs, usedAtMs, failures, fraction } = options;
  const pauseMs = getPaceMs({ ...agent, usedAtMs }, nowMs);
  const delayMs = failures === 0 ? pauseMs : Math.max(pauseMs, getRetryDelayMs(failures, fraction));
  // A turn that was taken early may not have begun yet.
  return getTurn(agent, Math.max(nowMs, turn) + delayMs);
}

/** Milliseconds between two runs of a caching agent that does not fail. */
export function getPaceMs(
  { usedAtMs, intervalMs }: { readonly usedAtMs: number; readonly intervalMs: number },
  nowMs: number,
): number {
  return usedAtMs + idleAfterMs <= nowMs ? Math.max(intervalMs, idleIntervalMs) : intervalMs;
}

/** Back-off after this many failures in a row: 30 s, doubled each time up to 10 minutes; a random half or more of it. */
export function getRetryDelayMs(failures: number, fraction: number): number {
  const backOff = { firstMs: retryDelayMs.first, mostMs: retryDelayMs.most, fixedShare: 0.5 };
  return getPauseMs(backOff, Math.max(1, failures), { fraction: () => fraction });
}

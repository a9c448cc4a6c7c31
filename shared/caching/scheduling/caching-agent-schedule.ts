import { getPauseMs } from '#core/back-off.ts';
import { hashText } from '../store/hash-text.ts';

/** Milliseconds between two runs of an agent unless its account says otherwise. */
export const defaultCachingAgentIntervalMs = 30_000;

/** An account that was not used for so long is idle: 15 minutes. */
export const idleAfterMs = 15 * 60_000;

/** Milliseconds between two runs of an agent whose account is idle: 5 minutes. */
export const idleIntervalMs = 5 * 60_000;

/** Milliseconds for which the use of an account is not noted again: 5 minutes. */
export const useRememberedMs = 5 * 60_000;

/** Milliseconds of back-off after the first failure, and at most, unless the interval is longer. */
export const retryDelayMs = { first: 30_000, most: 10 * 60_000 } as const;

/** Milliseconds for which a worker holds an agent unless it renews that: what a worker's death costs at most. No lease is longer. */
export const cachingAgentLeaseMs = 60_000;

/** Milliseconds by which a turn may be taken early: clocks differ. */
export const earlyToleranceMs = 1_000;

/**
 * Milliseconds ahead for which messages are sent. The scheduler comes each minute: when it is left out once no turn is late.
 */
export const sentAheadMs = 120_000;

/** Slots of an interval: times at which turns begin. Agents of one slot share messages. */
export const slotsPerInterval = 6;

/** What the turns of an agent depend on. */
export interface Paced {
  readonly account: string;
  readonly intervalMs: number;
}

/**
 * The turn at a time: when it began, milliseconds since the epoch. Turns of an agent follow each other at its interval, in the
 * slot of its account: not all agents run at once, and those of a slot run together. Being times, turns can be compared even
 * after the interval was changed.
 */
export function getTurn({ account, intervalMs }: Paced, nowMs: number): number {
  const shiftMs = (hashText(account) % slotsPerInterval) * Math.floor(intervalMs / slotsPerInterval);
  return Math.floor((nowMs + shiftMs) / intervalMs) * intervalMs - shiftMs;
}

/** The turn that a worker may claim now: the next one when it is about to begin. */
export function getClaimableTurn(agent: Paced, nowMs: number): number {
  return getTurn(agent, nowMs + earlyToleranceMs);
}

/** How an agent did, and how much its account is used. */
export interface PaceOptions {
  readonly nowMs: number;
  /** The turn that it had: that of its lease. */
  readonly turn: number;
  /** When its account was last read or deployed to, milliseconds. */
  readonly usedAtMs: number;
  /** Failures in a row, this run included. */
  readonly failures: number;
  /** From 0 to 1: spreads retries. */
  readonly fraction: number;
}

/**
 * When an agent runs next, at the beginning of a turn: after its interval, after 5 minutes if its account is idle, after a
 * growing delay if it failed. Turns that passed while it ran are skipped.
 */
export function getNextRunMs(agent: Paced, options: PaceOptions): number {
  const { turn, nowMs, usedAtMs, failures, fraction } = options;
  const pauseMs = getPaceMs({ ...agent, usedAtMs }, nowMs);
  const delayMs = failures === 0 ? pauseMs : Math.max(pauseMs, getRetryDelayMs(failures, fraction));
  // A turn that was taken early may not even have begun yet.
  return getTurn(agent, Math.max(nowMs, turn) + delayMs);
}

/** Milliseconds between two runs of an agent that does not fail. */
export function getPaceMs(
  { usedAtMs, intervalMs }: { readonly usedAtMs: number; readonly intervalMs: number },
  nowMs: number,
): number {
  return usedAtMs + idleAfterMs <= nowMs ? Math.max(intervalMs, idleIntervalMs) : intervalMs;
}

/** Back-off after so many failures in a row: 30 s, doubled each time up to 10 minutes; of that, at random, half or more. */
export function getRetryDelayMs(failures: number, fraction: number): number {
  const backOff = { firstMs: retryDelayMs.first, mostMs: retryDelayMs.most, fixedShare: 0.5 };
  return getPauseMs(backOff, Math.max(1, failures), { fraction: () => fraction });
}

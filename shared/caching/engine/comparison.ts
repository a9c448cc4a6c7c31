import { getRandomMs } from '#core/back-off.ts';
import { type Clock, isAhead, type Randomness } from '#core/clock.ts';
import type { AccountEpoch } from '../store/cache-store.ts';
import type { CachingAgentState } from './caching-agent-state.ts';

/** Milliseconds between two comparisons of the whole cache with the platform, and their random spread. */
const checkIntervalMs = { least: 55 * 60_000, spread: 10 * 60_000 } as const;

/** Has the whole cache compared now if that was requested; what the same run lists anyway is not listed twice. */
export function takeUpDemand(state: CachingAgentState, { compareMs }: AccountEpoch, clock: Clock): void {
  if (compareMs === undefined || compareMs === state.compareMs) return;
  state.compareMs = compareMs;
  state.checkAtMs = Math.min(state.checkAtMs, clock.now());
}

/** Whether another caching agent began another epoch, or a comparison was requested, since a state was current. */
export function isOutdated(state: CachingAgentState, current: AccountEpoch | undefined): boolean {
  if (current === undefined) return false;
  const { epoch, compareMs = state.compareMs } = current;
  return epoch !== state.epoch || compareMs !== state.compareMs;
}

/** When to compare the whole cache with the platform next. */
export function getNextCheckMs(clock: Clock, randomness: Randomness): number {
  return clock.now() + checkIntervalMs.least + Math.floor(getRandomMs(checkIntervalMs.spread, randomness));
}

/** Whether a comparison is due. */
export function isCheckDue({ checkAtMs }: Pick<CachingAgentState, 'checkAtMs'>, nowMs: number): boolean {
  return !isAhead(checkAtMs, nowMs, checkIntervalMs.least + checkIntervalMs.spread);
}

/** A readable text of when it was last compared, and how much was wrong. */
export function describeComparison({ atMs, drift }: NonNullable<CachingAgentState['compared']>): string {
  const time = new Date(atMs).toISOString();
  return drift === undefined ? time : `${time}: ${drift} wrong`;
}

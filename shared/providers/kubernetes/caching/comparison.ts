import type { AccountEpoch } from '#caching/store/cache-store.ts';
import { getRandomMs } from '#core/back-off.ts';
import { type Clock, isAhead, type Randomness } from '#core/clock.ts';
import type { CachingAgentState } from './caching-agent-state.ts';

/** Milliseconds between two comparisons of the whole cache with the cluster, and by how much they are spread. */
const checkIntervalMs = { least: 55 * 60_000, spread: 10 * 60_000 } as const;

/** Has the whole cache compared now where somebody asks for that: what is listed anew by the same run is not listed twice. */
export function takeUpDemand(state: CachingAgentState, { compareMs }: AccountEpoch, clock: Clock): void {
  if (compareMs === undefined || compareMs === state.compareMs) return;
  state.compareMs = compareMs;
  state.checkAtMs = Math.min(state.checkAtMs, clock.now());
}

/** Whether another agent began another epoch, or somebody asks for a comparison, since a state was of now. */
export function isOutdated(state: CachingAgentState, current: AccountEpoch | undefined): boolean {
  if (current === undefined) return false;
  const { epoch, compareMs = state.compareMs } = current;
  return epoch !== state.epoch || compareMs !== state.compareMs;
}

/** When the whole cache is to be compared with the cluster next. */
export function getNextCheckMs(clock: Clock, randomness: Randomness): number {
  return clock.now() + checkIntervalMs.least + Math.floor(getRandomMs(checkIntervalMs.spread, randomness));
}

/** Whether it is to be compared now. */
export function isCheckDue({ checkAtMs }: Pick<CachingAgentState, 'checkAtMs'>, nowMs: number): boolean {
  return !isAhead(checkAtMs, nowMs, checkIntervalMs.least + checkIntervalMs.spread);
}

/** When it was last compared, and how much was wrong, in words for people. */
export function describeComparison({ atMs, drift }: NonNullable<CachingAgentState['compared']>): string {
  const time = new Date(atMs).toISOString();
  return drift === undefined ? time : `${time}: ${drift} wrong`;
}

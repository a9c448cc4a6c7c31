import type { Schedule } from '../../functions/schedules.ts';
import type { Clock } from '../../shared/core/clock.ts';
import { getErrorMessage } from '../../shared/core/errors.ts';
import type { Invoker } from './invoker.ts';
import { localAccountId, localRegion } from './local-aws.ts';

/** How to run scheduled functions. */
export interface StartSchedulerOptions {
  readonly schedules: readonly Schedule[];
  readonly invoker: Invoker;
  readonly clock: Clock;
}

/**
 * Runs scheduled functions as EventBridge's `rate(…)` rules do, and once at the start: what an earlier process left is
 * then taken up at once. A function never overlaps itself: turns that come while it runs are left out. Disposing
 * starts no more turns; an invocation under way goes on.
 */
export function startScheduler({ schedules, invoker, clock }: StartSchedulerOptions): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const schedule of schedules) void repeat(schedule, { invoker, clock, signal });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
    },
  };
}

interface Surroundings extends Omit<StartSchedulerOptions, 'schedules'> {
  readonly signal: AbortSignal;
}

async function repeat(schedule: Schedule, { invoker, clock, signal }: Surroundings): Promise<void> {
  const intervalMs = schedule.rateMinutes * 60_000;
  const startedAtMs = clock.monotonic();
  while (!signal.aborted) {
    const { module, timeoutSeconds } = schedule;
    const event = toScheduledEvent(schedule, clock.now());
    // The invoker has logged a failure. The next turn comes all the same.
    await invoker.invoke({ module, event, timeoutSeconds }).catch(getErrorMessage);
    const elapsedMs = clock.monotonic() - startedAtMs;
    await clock.sleep(intervalMs - (elapsedMs % intervalMs), signal).catch(() => undefined);
  }
}

function toScheduledEvent({ name }: Schedule, nowMs: number): object {
  return {
    version: '0',
    id: crypto.randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: localAccountId,
    time: new Date(nowMs).toISOString().replace(/\.\d+/, ''),
    region: localRegion,
    resources: [`arn:aws:events:${localRegion}:${localAccountId}:rule/${name}`],
    detail: {},
  };
}

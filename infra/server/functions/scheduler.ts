import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Schedule } from '#functions/schedules.ts';
import type { Invoker } from './invoker.ts';
import { localAccountId, localRegion } from './local-aws.ts';

/** How to run scheduled functions. */
export interface StartSchedulerOptions {
  readonly schedules: readonly Schedule[];
  readonly invoker: Invoker;
  readonly clock: Clock;
}

/** Scheduled functions that run. */
export interface Scheduler extends AsyncDisposable {
  /** Has those run soon that are to run after an event of this type. */
  tell(eventType: string): void;
}

/** Events that come within so many milliseconds have a function run once. */
const gatherMs = 200;

/**
 * Runs scheduled functions as EventBridge's `rate(…)` rules do, and once at the start: what an earlier process left is
 * then taken up at once; and besides after events. A function never overlaps itself: turns that come while it runs are left out, but for
 * those of events, of which one follows. Disposing
 * starts no more turns; an invocation under way goes on.
 */
export function startScheduler({ schedules, invoker, clock }: StartSchedulerOptions): Scheduler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const bells = new Map(schedules.map((schedule) => [schedule, new Bell()]));
  for (const [schedule, bell] of bells) void repeat(schedule, { invoker, clock, signal, bell });
  return {
    tell(eventType) {
      for (const [{ eventTypes = [] }, bell] of bells) if (eventTypes.includes(eventType)) bell.ring();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
    },
  };
}

interface RuntimeParts extends Omit<StartSchedulerOptions, 'schedules'> {
  readonly signal: AbortSignal;
  readonly bell: Bell;
}

/** Ends a pause. */
class Bell {
  #hasRung = false;
  #pause: AbortController | undefined;

  /** Ends the pause, or the next one. */
  ring(): void {
    this.#hasRung = true;
    this.#pause?.abort();
  }

  /** Sleeps, unless it has rung since the last pause, and no longer than until it rings. @returns whether it rang */
  async sleep(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<boolean> {
    const pause = new AbortController();
    this.#pause = pause;
    const end = (): void => pause.abort();
    signal.addEventListener('abort', end);
    if (!this.#hasRung && !signal.aborted) await clock.sleep(ms, pause.signal).catch(() => undefined);
    signal.removeEventListener('abort', end);
    const hasRung = this.#hasRung;
    this.#hasRung = false;
    return hasRung;
  }
}

async function repeat(schedule: Schedule, { invoker, clock, signal, bell }: RuntimeParts): Promise<void> {
  const intervalMs = schedule.rateMinutes * 60_000;
  const startedAtMs = clock.monotonic();
  while (!signal.aborted) {
    const { module, timeoutSeconds } = schedule;
    const event = toScheduledEvent(schedule, clock.now());
    // The invoker has logged a failure. The next turn comes all the same.
    await invoker.invoke({ module, event, timeoutSeconds }).catch(getErrorMessage);
    const elapsedMs = clock.monotonic() - startedAtMs;
    const hasRung = await bell.sleep(clock, intervalMs - (elapsedMs % intervalMs), signal);
    if (hasRung) await clock.sleep(gatherMs, signal).catch(() => undefined);
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

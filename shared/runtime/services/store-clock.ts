import { createStoreClock, type StoreClock } from '../../core/store-clock.ts';
import type { Services } from './services.ts';
import { systemClock } from './system.ts';

/** The clock of an installation. It goes by the time of DynamoDB, as far as its answers have told that. */
export function openStoreClock(services: Services): StoreClock {
  return services.get(createClock);
}

function createClock({ direct }: Services): StoreClock {
  const clock = createStoreClock(systemClock);
  const nowMs = systemClock.now();
  // A store of this process has its time.
  if (direct.dynamodb !== undefined) clock.take({ toldMs: nowMs, sentMs: nowMs, receivedMs: nowMs });
  return clock;
}

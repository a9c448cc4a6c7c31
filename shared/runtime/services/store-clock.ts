import { createStoreClock, type StoreClock } from '../../core/store-clock.ts';
import type { Services } from './services.ts';
import { systemClock } from './system.ts';

/** The clock of an installation. It goes by the time of DynamoDB, as far as its answers have told that. */
export function openStoreClock(services: Services): StoreClock {
  return services.get(createClock);
}

function createClock(): StoreClock {
  return createStoreClock(systemClock);
}

import type { Clock } from '#core/clock.ts';
import { variables } from '../config.ts';
import { createStoreClock, type StoreClock } from '../ports/store-clock.ts';
import type { Services } from './services.ts';
import { systemClock, wallClock } from './system.ts';

/** The clock of an installation. It follows DynamoDB's time, as far as known from its answers. */
export function openStoreClock(services: Services): StoreClock {
  return services.get(createClock);
}

/** The clock between two answers of the store: in Lambda the wall clock, since the monotonic one freezes between calls. */
export function getMachineClock({ environment }: Services): Clock {
  return environment[variables.placement] === 'local' ? systemClock : wallClock;
}

function createClock(services: Services): StoreClock {
  const machine = getMachineClock(services);
  const clock = createStoreClock(machine);
  const nowMs = machine.now();
  // A store inside this process has its time.
  if (services.direct.dynamodb !== undefined) {
    clock.take({ toldMs: nowMs, sentMs: nowMs, receivedMs: nowMs });
  }
  return clock;
}

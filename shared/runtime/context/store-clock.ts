import { createStoreClock } from '../../core/store-clock.ts';
import { systemClock } from './system.ts';

/** The clock of this process. It goes by the time of DynamoDB, as far as its answers have told that. */
export const storeClock = createStoreClock(systemClock);

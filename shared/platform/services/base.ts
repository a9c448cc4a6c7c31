import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { type Config, readConfig } from '../config.ts';
import { createLogger } from './logger.ts';
import type { Services } from './services.ts';
import { openStoreClock } from './store-clock.ts';
import { getHost, systemRandomness } from './system.ts';

/** Milliseconds after which what is unused is forgotten; up to twice as many. */
export const unusedMs = 5 * 60_000;

/** What every function uses. */
export interface BaseServices {
  /** All services of the installation, from which others are opened. */
  readonly all: Services;
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Where this process runs, shown as the part of a task's `ownerId` behind the `@`. */
  readonly host: string;
  readonly log: Logger;
  /** Limits what is remembered between requests. */
  readonly remembered: RememberedBytes;
}

/** What every function uses. @throws ConfigurationError for an invalid environment */
export function openBase(services: Services): BaseServices {
  return services.get(createBase);
}

function createBase(services: Services): BaseServices {
  const config = readConfig(services.environment);
  return {
    all: services,
    config,
    clock: openStoreClock(services),
    randomness: systemRandomness,
    host: getHost(),
    log: createLogger(config),
    remembered: createRemembered(services, config.rememberedMib * 2 ** 20),
  };
}

/** Forgets what is unused by a timer, which stops while a process is frozen between calls. */
function createRemembered(services: Services, bytesMax: number): RememberedBytes {
  const remembered = new RememberedBytes(bytesMax);
  const timer = setInterval(() => remembered.forgetUnused(), unusedMs).unref();
  services.closeLater(() => clearInterval(timer));
  return remembered;
}

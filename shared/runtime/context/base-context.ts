import type { Clock, Randomness } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import { type Config, readConfig } from '../config.ts';
import { createLogger } from './logger.ts';
import { storeClock } from './store-clock.ts';
import { getHost, systemRandomness } from './system.ts';

/** What every function works with. Contexts are apart so that a function's bundle holds no client that it does not use. */
export interface BaseContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Where this process runs, shown as the part of a task's `ownerId` behind the `@`. */
  readonly host: string;
  readonly log: Logger;
}

let opened: BaseContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openBaseContext(): BaseContext {
  opened ??= createBaseContext(readConfig());
  return opened;
}

function createBaseContext(config: Config): BaseContext {
  return {
    config,
    clock: storeClock,
    randomness: systemRandomness,
    host: getHost(),
    log: createLogger(config),
  };
}

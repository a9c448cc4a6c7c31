import type { Logger } from '../core/logger.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logger.ts';

/** What functions that touch no store and no account work with. */
export interface LogContext {
  readonly log: Logger;
}

let opened: LogContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. It loads no AWS SDK. */
export function openLogContext(): LogContext {
  opened ??= { log: createLogger(readConfig()) };
  return opened;
}

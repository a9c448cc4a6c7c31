import type { Logger } from '../../../shared/core/logger.ts';

/** A log that nobody reads. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

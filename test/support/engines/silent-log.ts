import type { Logger } from '#core/logger.ts';

/** A log that nobody reads. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

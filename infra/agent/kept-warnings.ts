import { warningLengthMax, warningsMax } from '#agents/protocol/messages.ts';
import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';

/** Bytes of all kept warnings at most: they are in one item of a table, beside other things. */
export const warningBytesMax = 64 * 1024;

/**
 * Remembers the last warnings and errors that are logged, of {@link warningsMax} and {@link warningBytesMax} the latest, when and what,
 * without fields, for Busdriver to show: the log of a cluster out of reach is out of reach, too.
 */
export function keepWarnings(inner: Logger, clock: Pick<Clock, 'now'>) {
  const kept: string[] = [];
  let bytes = 0;
  const keep = (message: string): void => {
    const warning = `${new Date(clock.now()).toISOString()} ${message}`.slice(0, warningLengthMax);
    kept.push(warning);
    bytes += Buffer.byteLength(warning);
    while (kept.length > warningsMax || bytes > warningBytesMax)
      bytes -= Buffer.byteLength(kept.shift() ?? '');
  };
  const log: Logger = {
    debug: (message, fields) => inner.debug(message, fields),
    info: (message, fields) => inner.info(message, fields),
    warn(message, fields) {
      keep(message);
      inner.warn(message, fields);
    },
    error(message, fields) {
      keep(message);
      inner.error(message, fields);
    },
  };
  return { log, listWarnings: (): readonly string[] => [...kept] };
}

import { warningLengthMax, warningsMax } from '#agents/protocol/messages.ts';
import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';

/** Bytes of all kept warnings at most: they are in one item of a table, beside other things. */
export const warningBytesMax = 64 * 1024;

/** A log that remembers its last warnings. */
export interface KeptWarnings {
  readonly log: Logger;
  /** The last warnings and errors, of {@link warningsMax} and {@link warningBytesMax} the latest: when and what, without fields. */
  listWarnings(): readonly string[];
}

/** Remembers the warnings that are logged, for Busdriver to show: the log of a cluster out of reach is out of reach, too. */
export function keepWarnings(log: Logger, clock: Pick<Clock, 'now'>): KeptWarnings {
  const kept: string[] = [];
  let bytes = 0;
  const keep = (message: string): void => {
    const warning = `${new Date(clock.now()).toISOString()} ${message}`.slice(0, warningLengthMax);
    kept.push(warning);
    bytes += Buffer.byteLength(warning);
    while (kept.length > warningsMax || bytes > warningBytesMax)
      bytes -= Buffer.byteLength(kept.shift() ?? '');
  };
  return {
    log: {
      debug: (message, fields) => log.debug(message, fields),
      info: (message, fields) => log.info(message, fields),
      warn(message, fields) {
        keep(message);
        log.warn(message, fields);
      },
      error(message, fields) {
        keep(message);
        log.error(message, fields);
      },
    },
    listWarnings: () => [...kept],
  };
}

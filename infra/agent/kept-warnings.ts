import { warningLengthMax, warningsMax } from '../../shared/agent-protocol/messages.ts';
import type { Clock } from '../../shared/core/clock.ts';
import type { Logger } from '../../shared/core/logger.ts';

/** A log that remembers its last warnings. */
export interface KeptWarnings {
  readonly log: Logger;
  /** The warnings and errors since the last time, the latest {@link warningsMax}: when and what, without fields. */
  takeWarnings(): readonly string[];
}

/** Remembers the warnings that are logged, for Busdriver to show: of a cluster that nobody reaches nobody reads the log, either. */
export function keepWarnings(log: Logger, clock: Pick<Clock, 'now'>): KeptWarnings {
  let kept: string[] = [];
  const keep = (message: string): void => {
    kept.push(`${new Date(clock.now()).toISOString()} ${message}`.slice(0, warningLengthMax));
    if (kept.length > warningsMax) kept.shift();
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
    takeWarnings() {
      const taken = kept;
      kept = [];
      return taken;
    },
  };
}

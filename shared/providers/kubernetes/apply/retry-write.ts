import { getLongestPauseMs } from '#core/back-off.ts';
import type { Clock } from '#core/clock.ts';
import { isAnswerLost } from '../api/errors.ts';

/** How often an object is read again because another client was faster, and the pause before all such reads but the first. */
const racesMax = 5;
const racePauseMs = 200;
/** How often it is read again because the answer to a write was lost, and the pauses before all such reads but the first: half a minute. */
const lostMax = 11;
const lostBackOff = { firstMs: 200, mostMs: 5_000 };

/** A write that depends on the current state. */
export interface CheckedWrite<S, T> {
  /** Reads the current state. @param retry 0 for the first read */
  look(retry: number): Promise<S>;
  write(found: S): Promise<T>;
  /** True for a failure caused by another client's change since the read. */
  isLostRace(error: unknown, found: S): boolean;
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Reads, then writes. If the write came too late, or its answer was lost, it reads again: so a lost answer never causes a second write.
 * Without an answer it continues for half a minute: a failing server is usually back by then.
 */
export async function retryWrite<S, T>(checked: CheckedWrite<S, T>): Promise<T> {
  const { look, write, isLostRace, signal, clock } = checked;
  let races = 0;
  let lost = 0;
  for (;;) {
    const found = await look(races + lost);
    let pauseMs = 0;
    try {
      return await write(found);
    } catch (error) {
      if (isAnswerLost(error) && lost < lostMax) {
        if (lost > 0) pauseMs = getLongestPauseMs(lostBackOff, lost);
        lost += 1;
      } else if (isLostRace(error, found) && races < racesMax) {
        if (races + lost > 0) pauseMs = racePauseMs;
        races += 1;
      } else throw error;
    }
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
  }
}

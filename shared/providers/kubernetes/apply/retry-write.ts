import { getLongestPauseMs } from '#core/back-off.ts';
import type { Clock } from '#core/clock.ts';
import { isAnswerLost } from '../api/errors.ts';

/** How often an object is looked at anew because somebody else was faster, and the pause before all such looks but the first. */
const racesMax = 5;
const racePauseMs = 200;
/** How often it is looked at anew because the answer to a write was lost, and the pauses before all such looks but the first: half a minute. */
const lostMax = 11;
const lostBackOff = { firstMs: 200, mostMs: 5_000 };

/** A write that depends on what is there. */
export interface CheckedWrite<S, T> {
  /** Looks at what is there. @param retry 0 for the first look */
  look(retry: number): Promise<S>;
  write(found: S): Promise<T>;
  /** True for a failure that comes of what somebody else did since the look. */
  isLostRace(error: unknown, found: S): boolean;
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Looks, then writes. When the write came too late, or its answer was lost, it looks again: so nothing is written twice for
 * want of an answer. It goes on for half a minute while no answer comes: a server that fails is mostly back by then.
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

import type { Clock } from '../../../core/clock.ts';
import { isAnswerLost } from '../api/errors.ts';

/** How often an object is looked at anew because a write failed that may well succeed, or did. */
const maxRetries = 5;
/** Wait before the second retry and later ones; the first follows at once. */
const retryDelayMs = 200;

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
 * want of an answer.
 */
export async function retryWrite<S, T>(checked: CheckedWrite<S, T>): Promise<T> {
  const { look, write, isLostRace, signal, clock } = checked;
  for (let retry = 0; ; retry++) {
    const found = await look(retry);
    try {
      return await write(found);
    } catch (error) {
      if (retry === maxRetries || !(isAnswerLost(error) || isLostRace(error, found))) throw error;
    }
    if (retry > 0) await clock.sleep(retryDelayMs, signal);
  }
}

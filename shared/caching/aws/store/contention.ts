import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { RowContendedError } from '../../store/cache-store.ts';

const attemptsMax = 12;
/** The longest pauses suffice for twenty writers on a machine where a write takes a quarter of a second. */
const backOff = { firstMs: 10, mostMs: 4_000 };

interface ContentionOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** What is written, for the error. */
  readonly what: string;
}

/**
 * Repeats an attempt until it returns a value, with growing random pauses.
 *
 * @param attempt returns undefined when another writer was faster.
 * @throws RowContendedError after 12 attempts.
 */
export async function untilUncontended<T>(
  { clock, randomness, what }: ContentionOptions,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
    await clock.sleep(getPauseMs(backOff, attempts, randomness));
  }
  throw new RowContendedError(`${what} could not be written: others wrote it ${attemptsMax} times meanwhile`);
}

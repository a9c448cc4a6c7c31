import type { Clock } from './clock.ts';

/** Thrown when something took longer than it may. It has the name that time-outs of the AWS SDK have. */
export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/** How long something may take. */
export interface Deadline {
  readonly ms: number;
  /** What is done, for the error: `publishing events`. */
  readonly what: string;
  /** Gives it up earlier. */
  readonly signal?: AbortSignal;
}

/**
 * Does something, and waits for it no longer than it may take. What does not look at its signal goes on, and nobody hears of it.
 *
 * @param work is given a signal that is aborted when its time is over.
 * @throws TimeoutError, or what `work` throws.
 */
export async function within<T>(
  clock: Pick<Clock, 'sleep'>,
  { ms, what, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const done = new AbortController();
  const timer = clock.sleep(ms, done.signal).then(() => {
    const error = new TimeoutError(`${what} took longer than ${ms} ms`);
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([
      work(signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])),
      timer,
    ]);
  } finally {
    done.abort();
  }
}

/** Waits, and answers whether nothing came in between: false when the signal was aborted. */
export async function waits(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch {
    return false;
  }
}

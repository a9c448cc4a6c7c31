import type { Clock } from './clock.ts';

/** Thrown when something took longer than allowed. It has the name of the AWS SDK's time-outs. */
export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/** The reason for cancelling a timer. An `abort()` without a reason would make an error with a stack. */
const notNeeded = 'the timer is not needed any more';

/** How long something may take. */
export type Deadline = {
  readonly ms: number;
  /** Aborts it earlier. */
  readonly signal?: AbortSignal;
} & (
  | {
      /** What it does, for the error: `publishing events`. */
      readonly what: string;
    }
  | {
      /** Makes the error thrown then. */
      toError(): Error;
    }
);

/**
 * Does something, and waits for it until a deadline. Work that ignores its signal goes on unnoticed.
 *
 * @param work receives a signal that is aborted when its time is over.
 * @throws TimeoutError or the error of the deadline, or what `work` throws.
 */
export async function within<T>(
  clock: Pick<Clock, 'sleep'>,
  deadline: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { ms, signal } = deadline;
  const over = new AbortController();
  const done = new AbortController();
  const timer = clock.sleep(ms, done.signal).then(() => {
    const error =
      'toError' in deadline
        ? deadline.toError()
        : new TimeoutError(`${deadline.what} took longer than ${ms} ms`);
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([
      work(signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])),
      timer,
    ]);
  } finally {
    done.abort(notNeeded);
  }
}

/** Waits, and returns whether it was not interrupted: false when the signal was aborted. */
export async function waits(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits this long at most for work, which goes on after that. @returns whether it has ended @throws what it throws within that time */
export async function waitAtMost(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const ended = new AbortController();
  const timer = clock.sleep(ms, ended.signal).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([work.then(() => true), timer]);
  } finally {
    ended.abort(notNeeded);
  }
}

/**
 * Waits for work that may go on when this caller gives up: several callers share it, or it ignores the signal.
 *
 * @param grace milliseconds to wait for it after the signal was aborted. Default: none.
 * @throws the signal's reason once it is aborted and the grace is over, and what the work throws before.
 */
export async function untilAborted<T>(
  work: T | Promise<T>,
  signal: AbortSignal | undefined,
  grace?: { readonly clock: Pick<Clock, 'sleep'>; readonly ms: number },
): Promise<T> {
  if (signal === undefined || !(work instanceof Promise)) return work;
  const ended = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => {
    if (grace === undefined) reject(signal.reason);
    else void waits(grace.clock, grace.ms, ended.signal).then((isOver) => isOver && reject(signal.reason));
  };
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    ended.abort(notNeeded);
  }
}

/** Resolves when a signal is aborted. */
export async function onceAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

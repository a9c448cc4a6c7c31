/** Runs what it is given, so many at once at most; the others wait for their turn, in order. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A limit that calls share.
 *
 * @param most from 1
 */
export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    // Whoever ends hands his place on.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/**
 * Works on all items, so many at a time.
 *
 * @param most from 1
 * @returns what came of each, in their order.
 * @throws what the first of those that failed threw, in their order, once all have ended.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures = new Map<number, unknown>();
  const left = items.entries();
  const workOn = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.set(index, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, workOn));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
  return results;
}

/**
 * Does something for each item, so many at a time. After a failure nothing more is begun, and what is under way is waited for.
 *
 * @param most from 1
 * @throws what a call that failed threw.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  most: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let isFailed = false;
  const work = async (): Promise<void> => {
    for (const item of left) {
      if (isFailed) return;
      await act(item).catch((error: unknown) => {
        isFailed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: Math.min(most, items.length) }, work);
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

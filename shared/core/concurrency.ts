/** So many places, each of one holder at a time; the others wait for theirs in the order in which they came. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #places: number;
  /** Less than none where places were taken away whose holders have not ended. */
  #free: number;

  /** @param places from 1 */
  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  /** How many places there are. */
  get places(): number {
    return this.#places;
  }

  /** Has another number of places from now on. @param places from 1 */
  resize(places: number): void {
    this.#free += places - this.#places;
    this.#places = places;
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1;
      this.#waiting.shift()?.();
    }
  }

  /**
   * Waits for a place.
   *
   * @returns gives it back; to be called once.
   * @throws the signal's reason once it is aborted.
   */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => {
      // Whoever ends hands the place on.
      const next = this.#free < 0 ? undefined : this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(resolve);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(signal?.reason);
    };
    this.#waiting.push(resolve);
    signal?.addEventListener('abort', onAbort);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** Runs what it is given, so many at once at most; the others wait for their turn, in order. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A limit that calls share.
 *
 * @param most from 1
 */
export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const semaphore = new Semaphore(most);
  return async (work) => {
    const release = await semaphore.acquire();
    try {
      return await work();
    } finally {
      release();
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

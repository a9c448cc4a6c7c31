/** A number of places, each for one holder at a time; the others wait for theirs in order of arrival. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #places: number;
  /** Negative where places were removed whose holders have not finished. */
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

  /** Changes the number of places. @param places from 1 */
  resize(places: number): void {
    this.#free += places - this.#places;
    this.#places = places;
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Waits for a place. @returns a function that gives it back; call it once. @throws the signal's reason once it is aborted. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => {
      // A holder that finishes passes the place on.
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

/** Runs functions, a limited number at once; the others wait for their turn, in order. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** A limit that calls share. @param most from 1 */
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
 * Works on all items, a limited number at a time.
 *
 * @param most from 1
 * @returns the results, in the order of the items.
 * @throws the error of the first failed item, in their order, once all have ended.
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

/** Does something for each item, `most` at a time. After a failure it begins nothing more, and waits for the rest. @throws the error */
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

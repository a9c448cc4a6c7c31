import { forEachConcurrently } from '#core/concurrency.ts';
import { viewConcurrency } from '#core/request-limits.ts';
import type { CacheStore } from './cache-store.ts';

/** A listing as it was: where all of its tokens are the same, one for each element, it has not changed. */
export interface PastRead {
  readonly tokens: readonly unknown[];
  repeat(cache: CacheStore): Promise<unknown>;
}

/** Listings by what they are of. */
export type PastReads = ReadonlyMap<string, PastRead>;

/** What one request reads of the cache: each listing once. A later request with the same reads can ask whether they have changed. */
export class RequestReads {
  /** The cache for the request. */
  readonly cache: CacheStore;
  readonly #store: CacheStore;
  readonly #lists = new Map<string, Promise<readonly unknown[]>>();
  readonly #reads = new Map<string, PastRead>();
  /** Reads that were not noted: those under way, and those that cannot be compared. */
  #unnoted = 0;

  constructor(store: CacheStore) {
    this.#store = store;
    this.cache = {
      ...this.#watchAll(),
      listAccounts: (...of) => this.#list(['accounts', ...of], (cache) => cache.listAccounts(...of)),
      listKinds: (...of) => this.#list(['kinds', ...of], (cache) => cache.listKinds(...of)),
      listRows: (...of) =>
        this.#listPages(
          ['rows', ...of],
          (cache) => cache.listRows(...of),
          ({ version }) => version,
        ),
      listObjects: (...of) =>
        this.#listPages(
          ['objects', ...of],
          (cache) => cache.listObjects(...of),
          () => {
            // Of one revision there may be several bodies: settings decide what is cached of it.
            this.#unnoted += 1;
          },
        ),
    };
  }

  /** Ends the reading. @returns what was read; undefined where something was that cannot be compared */
  end(): PastReads | undefined {
    // What is returned may be remembered for long, and refers to this object.
    this.#lists.clear();
    return this.#unnoted > 0 ? undefined : this.#reads;
  }

  /** Reads what another request has read, as many lists at once as views do. Nothing is read again later. @returns whether all is as it was */
  async isUnchanged(past: PastReads): Promise<boolean> {
    await forEachConcurrently([...past.values()], viewConcurrency, async (read) => {
      await read.repeat(this.cache);
    });
    const isSame = past.entries().every(([key, { tokens }]) => {
      const now = this.#reads.get(key)?.tokens;
      return now?.length === tokens.length && tokens.every((token, index) => token === now[index]);
    });
    // What is made of it now may need less.
    if (!isSame) this.#reads.clear();
    return isSame;
  }

  /** A list whose elements are the same objects as long as they have not changed. */
  async #list<T>(
    of: readonly unknown[],
    repeat: (cache: CacheStore) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const key = JSON.stringify(of);
    // Nothing else is stored under the key.
    const known = this.#lists.get(key) as Promise<readonly T[]> | undefined;
    const listed = known ?? repeat(this.#store);
    this.#lists.set(key, listed);
    const tokens = await listed;
    this.#reads.set(key, { tokens, repeat });
    return tokens;
  }

  async *#listPages<T>(
    of: readonly unknown[],
    list: (cache: CacheStore) => AsyncIterable<readonly T[]>,
    toToken: (element: T) => unknown,
  ): AsyncGenerator<readonly T[]> {
    const key = JSON.stringify(of);
    const known = this.#lists.get(key) as Promise<readonly T[]> | undefined;
    // Not where the reader stops before the end.
    this.#unnoted += 1;
    const found: T[] = [];
    for await (const page of known === undefined ? list(this.#store) : [await known]) {
      found.push(...page);
      yield page;
    }
    this.#lists.set(key, Promise.resolve(found));
    this.#reads.set(key, { tokens: found.map(toToken), repeat: (cache) => Array.fromAsync(list(cache)) });
    this.#unnoted -= 1;
  }

  /** All methods of the cache; what they read cannot be compared. */
  #watchAll(): CacheStore {
    const watched = Object.entries(this.#store).map(([name, method]) => {
      const watch = (...parameters: unknown[]) => {
        this.#unnoted += 1;
        return method(...parameters);
      };
      return [name, watch];
    });
    return Object.fromEntries(watched);
  }
}

/** The cache for callers that need what was just written: rows, objects and the directory are read consistently. */
export function createConsistentCache(cache: CacheStore): CacheStore {
  const consistent = true;
  return {
    ...cache,
    listApplications: () => cache.listApplications({ consistent }),
    listAccounts: (application) => cache.listAccounts(application, { consistent }),
    getObjects: (keys) => cache.getObjects(keys, { consistent }),
    getRow: (key) => cache.getRow(key, { consistent }),
    listHeads: (account, kind, options) => cache.listHeads(account, kind, { ...options, consistent }),
    listRows: (place, options) => cache.listRows(place, { ...options, consistent }),
  };
}

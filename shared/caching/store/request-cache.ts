import type { CacheStore, DirectoryEntry } from './cache-store.ts';

/** A listing of the cache as it was. */
export interface PastRead {
  /** One for each element: where all are the same, the listing is, too. */
  readonly tokens: readonly unknown[];
  /** Lists it once more. */
  repeat(cache: CacheStore): Promise<unknown>;
}

/** Listings by what they are of. */
export type PastReads = ReadonlyMap<string, PastRead>;

/**
 * What one request reads of the cache: each listing once. It notes what it reads, so that a later request with the same reads knows whether
 * they changed.
 */
export class RequestReads {
  /** The cache for the request. */
  readonly cache: CacheStore;
  readonly #store: CacheStore;
  readonly #accounts = new Map<string, Promise<readonly DirectoryEntry[]>>();
  readonly #pages = new Map<string, readonly (readonly unknown[])[]>();
  readonly #reads = new Map<string, PastRead>();
  /** Reads that were not noted: those under way, and those that cannot be compared. */
  #unnoted = 0;

  constructor(store: CacheStore) {
    this.#store = store;
    this.cache = {
      ...this.#watchOthers(),
      listAccounts: (application) => this.#listAccounts(application),
      listKinds: async (account) => {
        const pages = this.#list(
          ['kinds', account],
          async function* (cache) {
            yield await cache.listKinds(account);
          },
          (kind) => kind,
        );
        return (await Array.fromAsync(pages)).flat();
      },
      listRows: (...of) =>
        this.#list(
          ['rows', ...of],
          (cache) => cache.listRows(...of),
          (row) => row.version,
        ),
      listObjects: (...of) =>
        this.#list(
          ['objects', ...of],
          (cache) => cache.listObjects(...of),
          () => {
            // Of one revision there may be several bodies: settings decide what is cached of it.
            this.#unnoted += 1;
          },
        ),
    };
  }

  /** What was read; undefined where something was that cannot be compared. */
  findReads(): PastReads | undefined {
    return this.#unnoted > 0 ? undefined : this.#reads;
  }

  /** Reads the same as another request, all at once. What this request reads of it later is not read again. @returns whether all is as it was */
  async isUnchanged(past: PastReads): Promise<boolean> {
    await Promise.all([...past.values()].map((read) => read.repeat(this.cache)));
    return [...past].every(([key, { tokens }]) => {
      const now = this.#reads.get(key)?.tokens;
      return now?.length === tokens.length && tokens.every((token, index) => token === now[index]);
    });
  }

  #listAccounts(application: string): Promise<readonly DirectoryEntry[]> {
    const known = this.#accounts.get(application);
    if (known !== undefined) return known;
    const listed = this.#store.listAccounts(application);
    this.#accounts.set(application, listed);
    const note = (tokens: readonly DirectoryEntry[]) => {
      this.#reads.set(application, { tokens, repeat: (cache) => cache.listAccounts(application) });
      return tokens;
    };
    return listed.then(note);
  }

  async *#list<T>(
    of: readonly unknown[],
    list: (cache: CacheStore) => AsyncIterable<readonly T[]>,
    toToken: (element: T) => unknown,
  ): AsyncGenerator<readonly T[]> {
    const key = JSON.stringify(of);
    const known = this.#pages.get(key);
    // Only this method stores pages under the key.
    if (known !== undefined) return yield* known as readonly (readonly T[])[];
    this.#unnoted += 1;
    const pages: (readonly T[])[] = [];
    for await (const page of list(this.#store)) {
      pages.push(page);
      yield page;
    }
    const tokens = pages.flatMap((page) => page.map(toToken));
    this.#pages.set(key, pages);
    this.#reads.set(key, { tokens, repeat: (cache) => Array.fromAsync(list(cache)) });
    // Not where the reader stops before the end.
    this.#unnoted -= 1;
  }

  /** All methods, each of which cannot be compared. */
  #watchOthers(): CacheStore {
    const watch = (method: (...parameters: unknown[]) => unknown) => {
      return (...parameters: unknown[]) => {
        this.#unnoted += 1;
        return method(...parameters);
      };
    };
    const methods = Object.entries(this.#store).map(([name, method]) => [name, watch(method)]);
    return Object.fromEntries(methods);
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

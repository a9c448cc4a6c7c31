import type { CacheStore, DirectoryEntry } from './cache-store.ts';

/** The cache for one request: it reads the accounts of an application once. */
export function createRequestCache(cache: CacheStore): CacheStore {
  const accounts = new Map<string, Promise<readonly DirectoryEntry[]>>();
  return {
    ...cache,
    listAccounts(application) {
      const entries = accounts.get(application) ?? cache.listAccounts(application);
      accounts.set(application, entries);
      return entries;
    },
  };
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

import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import type { CacheStore, NewObject, ObjectKey } from '#caching/store/cache-store.ts';
import type { EntryPut, EntryRemoval } from '#caching/store/packed-row.ts';
import { type Revision, toRevision } from '#caching/store/revision.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import type { StoreEngine } from './store-bench.ts';

/** A cache with a connection of its own, as one function of ours has it. */
export interface CacheBench {
  readonly store: CacheStore;
  readonly table: CacheTable;
  readonly clock: TestClock;
  readonly documents: StoreTestClient;
}

/** Opens a cache. Those that are to see the same time share a clock. */
export function openCache(engine: StoreEngine, clock: TestClock = createTestClock()): CacheBench {
  const documents = engine.openDocuments();
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  return { store: createCacheStore(parts), table: new CacheTable(parts), clock, documents };
}

/** An account that no other test has. */
export function newAccount(): string {
  return `account ${testRandomness.id()}`;
}

/** The version of a resource version in the first epoch. */
export function v(resourceVersion: number, epoch = 1): Revision {
  return toRevision(epoch, String(resourceVersion));
}

/** Names a pod. */
export function podKey(account: string, name: string, namespace = 'shop'): ObjectKey {
  return { account, kind: 'pod', location: namespace, name };
}

/** A pod whose body tells its revision. */
export function pod(key: ObjectKey, revision: Revision): NewObject {
  return { key, revision, application: 'cart', body: `${key.name} at ${revision}` };
}

/** Puts an entry. */
export function put(key: string, at: number, value = `${key} at ${at}`): EntryPut {
  return { key, revision: v(at), seenAt: v(at), value };
}

/** Removes an entry. */
export function remove(key: string, at: number): EntryRemoval {
  return { key, revision: v(at), gone: true };
}

/** Caches objects, all at once. */
export async function putAll(store: CacheStore, objects: readonly NewObject[]): Promise<void> {
  await Promise.all(objects.map((object) => store.putObject(object)));
}

/** Everything of all pages. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** The requests that a client sends from now on, by operation. */
export function countRequests(documents: StoreTestClient): { take(): Record<string, number> } {
  let counts: Record<string, number> = {};
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      const name = String(context.commandName).replace(/Command$/, '');
      counts[name] = (counts[name] ?? 0) + 1;
      return next(args);
    },
    { step: 'finalizeRequest', name: 'countRequests', priority: 'low' },
  );
  return {
    take() {
      const taken = counts;
      counts = {};
      return taken;
    },
  };
}

/** The write units that a client's single-item writes consume from now on. */
export function countWriteUnits(documents: StoreTestClient): { take(): number } {
  let units = 0;
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      if (!/Put|Update|Delete/.test(String(context.commandName))) return next(args);
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' } as typeof args.input;
      const result = await next({ ...args, input });
      const { ConsumedCapacity } = result.output as {
        readonly ConsumedCapacity?: { readonly CapacityUnits?: number };
      };
      units += ConsumedCapacity?.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize', name: 'countWriteUnits' },
  );
  return {
    take() {
      const taken = units;
      units = 0;
      return taken;
    },
  };
}

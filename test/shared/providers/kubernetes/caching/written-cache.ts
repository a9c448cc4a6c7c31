import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CacheStore, RowPlace } from '#caching/store/cache-store.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import type { CacheWriter, ObjectChange } from '#providers/kubernetes/cache-writer/object-change.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { asFacts } from '#providers/kubernetes/rows/row-entries.ts';
import { collect, v } from '#test/contracts/cache-bench.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { registry } from './small-cluster.ts';

/**
 * What is cached of an application: its names in the directory, and the entries of its rows with their revisions, to which those of pods are
 * joined that stand in a row of the same name.
 */
export interface CachedApplication {
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
  readonly rows: { readonly [row: string]: readonly string[] };
}

/** A writer of one account, and what it wrote. */
export interface WriterBench {
  readonly account: string;
  readonly store: CacheStore;
  readonly writer: CacheWriter;
  readonly clock: TestClock;
  readonly documents: StoreTestClient;
  /** What is cached by now, by application. */
  read(): Promise<{ readonly [application: string]: CachedApplication }>;
  /** The entries of the rows of a namespace, with their revisions. */
  readNamespace(namespace: string): Promise<CachedApplication['rows']>;
}

/** How a bench may differ from others. */
export interface WriterTraits {
  readonly clock?: TestClock;
  readonly allApplicationRelationships?: boolean;
  /** Wraps the store that the writer gets. */
  readonly wrap?: (store: CacheStore) => CacheStore;
}

/** Opens a writer with a connection of its own. */
export function openWriter(
  engine: StoreEngine,
  account: string,
  {
    clock = createTestClock(),
    allApplicationRelationships = false,
    wrap = (store) => store,
  }: WriterTraits = {},
): WriterBench {
  const documents = engine.openDocuments();
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  const store = createCacheStore({ ...parts, codecs: kubernetesPlugin.rowCodecs ?? {} });
  const writer = createCacheWriter(
    toWriterOptions({
      cache: wrap(store),
      account: { name: account, kindRegistry: registry, caching: { allApplicationRelationships } },
      clock,
      randomness: testRandomness,
    }),
  );
  return {
    account,
    store,
    writer,
    clock,
    documents,
    read: () => readAll(store, account),
    readNamespace: (namespace) => readRows(store, { account, location: namespace }),
  };
}

/** The change that an object is so. */
export function put(facts: ObjectFacts, at: number, seenAt = at): ObjectChange {
  const { kind, namespace, name } = facts;
  const own = { ...facts, resourceVersion: String(at) };
  return { kind, location: namespace, name, revision: v(at), seenAt: v(seenAt), facts: own };
}

/** The change that an object is gone. */
export function gone({ kind, namespace, name }: ObjectFacts, at: number): ObjectChange {
  return { kind, location: namespace, name, revision: v(at), seenAt: v(at), facts: undefined };
}

async function readAll(
  store: CacheStore,
  account: string,
): Promise<{ readonly [application: string]: CachedApplication }> {
  const entries = (await store.listApplications()).filter((entry) => entry.account === account);
  const found: Record<string, CachedApplication> = {};
  for (const { application, clusters, locations: namespaces } of entries) {
    const rows: Record<string, readonly string[]> = {};
    const places = await Promise.all(
      namespaces.map((namespace) => readRows(store, { account, location: namespace })),
    );
    const pods = Object.assign({}, ...places);
    for (const [row, own] of Object.entries(await readRows(store, { application, account }))) {
      rows[row] = [...(pods[row.replace(/^serverGroups /, 'pods ')] ?? []), ...own];
    }
    found[application] = { clusters, namespaces, rows };
  }
  return found;
}

async function readRows(store: CacheStore, place: RowPlace): Promise<CachedApplication['rows']> {
  const stored = await collect(store.listRows(place, { consistent: true }));
  const rows = stored.map(({ view, row, read }): [string, string[]] => {
    const entries = [...read()].map(([key, { value }]) => `${key}@${asFacts(value).resourceVersion}`);
    return [`${view} ${row}`, entries.sort()];
  });
  return Object.fromEntries(rows.sort());
}

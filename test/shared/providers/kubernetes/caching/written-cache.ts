import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createCacheStore } from '../../../../../shared/aws/cache/cache-store.ts';
import type { CacheStore } from '../../../../../shared/core/cache/cache-store.ts';
import { createCacheWriter } from '../../../../../shared/providers/kubernetes/cache-writer/cache-writer.ts';
import type {
  CacheWriter,
  ObjectChange,
} from '../../../../../shared/providers/kubernetes/cache-writer/object-change.ts';
import { kubernetesPlugin } from '../../../../../shared/providers/kubernetes/index.ts';
import type { ObjectFacts } from '../../../../../shared/providers/kubernetes/rows/facts.ts';
import { asFacts, selfKey } from '../../../../../shared/providers/kubernetes/rows/row-entries.ts';
import { waitingApplication } from '../../../../../shared/providers/kubernetes/rows/row-names.ts';
import { collect, v } from '../../../../contracts/cache-bench.ts';
import type { StoreEngine } from '../../../../contracts/store-bench.ts';
import { createTestClock, type TestClock, testRandomness } from '../../../../support/test-clock.ts';
import { registry } from './small-cluster.ts';

/** What is cached of an application: its names in the directory, and the entries of its rows with their versions. */
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
  readonly documents: DynamoDBDocumentClient;
  /** What is cached by now, by application. Rows of pods alone are left out. */
  read(): Promise<{ readonly [application: string]: CachedApplication }>;
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
  const writer = createCacheWriter({
    cache: wrap(store),
    account: { name: account, kindRegistry: registry, caching: { allApplicationRelationships } },
    clock,
    randomness: testRandomness,
  });
  return { account, store, writer, clock, documents, read: () => readAll(store, account) };
}

/** The change that an object is so. */
export function put(facts: ObjectFacts, at: number, seenAt = at): ObjectChange {
  const { kind, namespace, name } = facts;
  const own = { ...facts, resourceVersion: String(at) };
  return { kind, namespace, name, version: v(at), seenAt: v(seenAt), facts: own };
}

/** The change that an object is gone. */
export function gone({ kind, namespace, name }: ObjectFacts, at: number): ObjectChange {
  return { kind, namespace, name, version: v(at), seenAt: v(at), facts: undefined };
}

async function readAll(
  store: CacheStore,
  account: string,
): Promise<{ readonly [application: string]: CachedApplication }> {
  const entries = (await store.listApplications()).filter((entry) => entry.account === account);
  const found: Record<string, CachedApplication> = {};
  for (const { application, clusters, namespaces } of entries) {
    // Listed, without clusters, only after a writer died before it hid the name.
    if (application === waitingApplication) continue;
    found[application] = { clusters, namespaces, rows: await readRows(store, application, account) };
  }
  return found;
}

async function readRows(
  store: CacheStore,
  application: string,
  account: string,
): Promise<CachedApplication['rows']> {
  const stored = await collect(store.listRows(application, account, { consistent: true }));
  const rows = stored.flatMap(({ view, row, read }): [string, string[]][] => {
    const live = read();
    if (!live.has(selfKey)) return [];
    const entries = [...live].map(([key, { value }]) => `${key}@${asFacts(value).resourceVersion}`);
    return [[`${view} ${row}`, entries.sort()]];
  });
  return Object.fromEntries(rows.sort());
}

import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import { cacheTable, type Table } from '#platform/aws/tables.ts';
import { type KubernetesAccount, parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import type { ObjectChange } from '#providers/kubernetes/cache-writer/object-change.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { createTestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { openViewSet } from '#views/view-set.ts';
import type { Viewed, ViewReader } from '#views/views.ts';
import { openProvider } from '../provider-setup.ts';

/** Accounts with their cache, and the views over it. */
export interface CachedAccounts {
  readonly documents: StoreTestClient;
  readonly cache: CacheStore;
  readonly reader: ViewReader;
  /** Caches objects for an account as its agent does. */
  write(account: string, objects: readonly Manifest[]): Promise<void>;
  writeFacts(account: string, facts: readonly ObjectFacts[]): Promise<void>;
  /** The same cache as it is seen with other accounts configured. */
  reopen(accounts: readonly JsonObject[]): Promise<ViewReader>;
}

/** A cache, and the views that these accounts have of it. Whoever shares the table should have accounts of his own. */
export async function openCachedAccounts(
  open: (table: Table) => StoreEngine,
  accounts: readonly JsonObject[],
): Promise<CachedAccounts> {
  const { tableName, openDocuments } = open(cacheTable);
  const clock = createTestClock();
  const parts = { clock, randomness: testRandomness };
  const { rowCodecs: codecs = {} } = kubernetesPlugin;
  const documents = openDocuments();
  const cache = createCacheStore({ ...parts, documents, tableName, codecs });
  const getAccount = (name: string): KubernetesAccount => {
    const parsed = parseKubernetesAccounts({ kubernetes: { accounts: accounts.map(complete) } });
    const found = parsed.accounts.find((account) => account.name === name);
    if (found === undefined) throw new Error(`${name} is not configured: ${JSON.stringify(parsed.rejected)}`);
    return found;
  };
  const writeFacts = async (name: string, facts: readonly ObjectFacts[]): Promise<void> => {
    const writer = createCacheWriter(toWriterOptions({ ...parts, cache, account: getAccount(name) }));
    await writer.write(facts.map(toChange));
  };
  return {
    documents,
    cache,
    reader: await openReader(cache, accounts),
    writeFacts,
    write: (name, objects) =>
      writeFacts(
        name,
        objects.map((object) => toFacts(object, getAccount(name).kindRegistry)),
      ),
    reopen: (others) => openReader(cache, others),
  };
}

/** The namespace of most samples. */
export const location = 'store';

/** An account that no other test has, with these objects in its cache. */
export async function openAccount(
  open: (table: Table) => StoreEngine,
  {
    objects,
    settings,
  }: { readonly objects: readonly Manifest[]; readonly settings?: JsonObject | undefined },
) {
  const account = newAccount();
  const accounts = await openCachedAccounts(open, [{ name: account, ...settings }]);
  await accounts.write(account, objects);
  const key = (name: string, namespace = location) => ({ account, location: namespace, name });
  return { ...accounts, account, key };
}

/** The members of a view that is there, as JSON has them. */
export async function show(view: Promise<Viewed | undefined>): Promise<JsonObject> {
  const found = await view;
  if (found === undefined) throw new Error('nothing was found');
  return asJsonObject(JSON.parse(JSON.stringify(found.value))) ?? {};
}

async function openReader(cache: CacheStore, accounts: readonly JsonObject[]): Promise<ViewReader> {
  const provider = openProvider(accounts.map(complete));
  return openViewSet(toSet(provider).clouds, cache, () => true);
}

/** With a kubeconfig, that is: nobody connects. */
function complete(account: JsonObject): JsonObject {
  return { kubeconfigContents: '{}', ...account };
}

function toChange(facts: ObjectFacts): ObjectChange {
  const { kind, namespace, name } = facts;
  const revision = toRevision(1, facts.resourceVersion || '1');
  return { kind, location: namespace, name, revision, seenAt: revision, facts };
}

import { describe, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { parseRevision } from '#caching/store/revision.ts';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import { startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { openViewSet } from '#views/view-set.ts';
import type { ViewReader } from '#views/views.ts';
import { useLocalTables } from '../engines/local-tables.ts';

/** What `testProvider` needs to know of a provider. */
export interface ProviderSample {
  readonly plugin: ProviderPlugin;
  /** Names of the accounts, and artifact accounts, that `toSettings` names and that `toWrongSettings` leaves. */
  readonly accounts: readonly string[];
  /** Right settings, under which it has all that it can have. What it calls is at `url`, over plain HTTP. */
  toSettings(url: string): JsonObject;
  /** The same, and something of it wrong, in a way that holds the word `planted`. */
  toWrongSettings(url: string): JsonObject;
  /** What the provider leaves out for it, by the names that it tells; `everything` where it refuses to be opened. */
  readonly leavesOut: readonly string[] | 'everything';
  /** Values of the right settings that are secret. */
  readonly secrets: readonly string[];
  /** One of its operations and a right description for it. Left out for a provider without operations. */
  readonly operation?: { readonly name: string; readonly description: JsonObject };
  /** Has something there to be cached, which stays as it is. Left out for a provider without agents. */
  openWorld?(): Promise<ProviderWorld>;
}

/** Something that a provider's agents can cache. */
export interface ProviderWorld extends AsyncDisposable {
  /** Settings with an account that sees it. */
  readonly settings: JsonObject;
  /** An application of it. */
  readonly application: string;
}

/**
 * Holds a provider to what the rest of Busdriver takes for granted of all: it is opened, and its operations prepared, without a call;
 * what is wrong with one account costs no other; what may be published holds no secret; views of an empty cache are empty, and no
 * error; agents may run twice at once.
 */
export function testProvider(sample: ProviderSample): void {
  describe(`the provider ${sample.plugin.name}`, () => {
    testOpening(sample);
    testSettings(sample);
    testCapabilities(sample);
  });
}

/** Calls of the test itself, one after the other. */
const ownCalls = 50;

function testOpening(sample: ProviderSample): void {
  const { plugin, accounts } = sample;
  test('is opened by an installation that knows nothing of it', async () => {
    await using provider = open(plugin, {});
    expect(provider).toMatchObject({ name: plugin.name, rejectedAccounts: [] });
  });

  test('calls nobody before it is asked for something', async () => {
    await using origin = await startOrigin((_, response) => response.end('{}'));
    const settings = sample.toSettings(origin.url);
    await using provider = open(plugin, settings);
    expect(listAccounts(provider)).toEqual(expect.arrayContaining([...accounts]));
    const published = plugin.toPublicSettings(settings, toSet(provider).getOpenedAccounts(plugin.name));
    await using known = open(plugin, published, { placement: 'deployed', credentials: 'withheld' });
    for (const operation of sample.operation ? [sample.operation] : []) {
      const { description } = operation;
      const prepared = (await getOperation(provider, operation)).prepare(description);
      expect(accounts).toContain(prepared.account);
      expect((await getOperation(known, operation)).prepare(description).account).toBe(prepared.account);
    }
    // What was begun gets there meanwhile.
    for (let count = 0; count < ownCalls; count += 1) await (await fetch(`${origin.url}/own`)).text();
    expect(origin.requests.map((request) => request.url)).toEqual(Array(ownCalls).fill('/own'));
  });

  test('may be closed before anything was done', async () => {
    const provider = open(plugin, sample.toSettings('http://127.0.0.1:1'));
    await expect(provider[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
}

function testSettings(sample: ProviderSample): void {
  const { plugin, accounts, leavesOut } = sample;
  test('leaves out what is wrong alone, and tells why without repeating it', async () => {
    const settings = sample.toWrongSettings('http://127.0.0.1:1');
    if (leavesOut === 'everything') {
      expect(() => open(plugin, settings)).toThrow(/^(?!.*planted)/);
      return;
    }
    await using provider = open(plugin, settings);
    expect(listAccounts(provider)).toEqual(expect.arrayContaining([...accounts]));
    expect(provider.rejectedAccounts.map(({ name }) => name)).toEqual(leavesOut);
    for (const { reason } of provider.rejectedAccounts) {
      expect(reason).toMatch(/\w+/);
      expect(reason).not.toContain('planted');
    }
  });

  test('publishes its accounts without their secrets', async () => {
    const settings = sample.toSettings('http://127.0.0.1:1');
    await using provider = open(plugin, settings);
    const published = plugin.toPublicSettings(settings, toSet(provider).getOpenedAccounts(plugin.name));
    for (const secret of sample.secrets) {
      expect(JSON.stringify(settings)).toContain(secret);
      expect(JSON.stringify(published)).not.toContain(secret);
    }
    await using known = open(plugin, published, { placement: 'deployed', credentials: 'withheld' });
    expect(known.rejectedAccounts).toEqual([]);
    expect(listAccounts(known)).toEqual(listAccounts(provider));
  });
}

function testCapabilities(sample: ProviderSample): void {
  const { plugin } = sample;
  test('has a sample of each of its capabilities', async () => {
    await using provider = open(plugin, sample.toSettings('http://127.0.0.1:1'));
    const hasOperations = (await toSet(provider).listOperationNames(plugin.name)).length > 0;
    expect(sample.operation !== undefined, "'operation' of the sample").toBe(hasOperations);
    const hasAgents = (await toSet(provider).loadCachingAgents()).length > 0;
    expect(sample.openWorld !== undefined, "'openWorld' of the sample").toBe(hasAgents);
  });

  const openTable = useLocalTables();
  const openOtherTable = useLocalTables();
  const openCache = (open: typeof openTable): CacheStore => {
    const { tableName, openDocuments } = open(cacheTable);
    const parts = { documents: openDocuments(), tableName, clock: systemClock, randomness: systemRandomness };
    return createCacheStore({ ...parts, codecs: plugin.rowCodecs ?? {} });
  };

  test('shows an empty cache as Clouddriver does, and fails for none', async () => {
    await using provider = open(plugin, sample.toSettings('http://127.0.0.1:1'));
    const views = await openViewSet(toSet(provider).clouds, openCache(openTable), () => true);
    for (const account of [...sample.accounts, 'unheard-of']) await checkEmptyViews(views, account);
  });

  test('has agents that may run twice at once, and again', async () => {
    await using world = await sample.openWorld?.();
    if (world === undefined) return;
    // At one time all runs find the same, in revisions of providers that go by the time, too.
    const startedAtMs = systemClock.now();
    const clock = { ...systemClock, now: () => startedAtMs };
    await using provider = open(plugin, world.settings, { clock });
    const [once, twice] = [openCache(openTable), openCache(openOtherTable)];
    for (const agent of await toSet(provider).loadCachingAgents()) {
      await run(agent, once);
      const [{ state }] = await Promise.all([run(agent, twice), run(agent, twice)]);
      await run(agent, twice, state);
    }
    const expected = await readCache(once, provider, world);
    expect(expected.rows.length + expected.objects.length).toBeGreaterThan(0);
    expect(await readCache(twice, provider, world)).toEqual(expected);
  }, 60_000);
}

const log = { debug() {}, info() {}, warn() {}, error() {} };

function open(plugin: ProviderPlugin, settings: JsonObject, more: Partial<ProviderContext> = {}): Provider {
  const parts = { clock: systemClock, randomness: systemRandomness, log, environment: {} };
  return plugin.open({ settings, ...parts, placement: 'local', ...more });
}

/** Names of the accounts, artifact accounts among them. */
function listAccounts(provider: Provider): string[] {
  return [...toSet(provider).accounts, ...(provider.artifacts?.accounts ?? [])].map(({ name }) => name);
}

async function getOperation(
  provider: Provider,
  { name, description }: NonNullable<ProviderSample['operation']>,
) {
  const operation = await toSet(provider).findOperation(provider.name, name, description);
  if (operation === undefined) throw new Error(`the provider has no operation ${name}`);
  return operation;
}

async function run(agent: CachingAgent, cache: CacheStore, state?: string) {
  const { signal } = new AbortController();
  return agent.run({ cache, state, isAlone: true, signal, ensureHeld() {}, async commitState() {} });
}

/** Asks every view that there is. */
async function checkEmptyViews(views: ViewReader, account: string): Promise<void> {
  const application = 'shop';
  const key = { account, location: 'shop', name: 'replicaSet cart-v000' };
  const cluster = { account, application, cluster: 'replicaSet cart' };
  const target = {
    ...cluster,
    location: undefined,
    target: 'newest',
    onlyEnabled: false,
    validateOldest: true,
  };
  const missing = { ...key, reason: 'it cannot be read', nowMs: 0, asOfMs: undefined };
  const lists = [
    views.listApplications(),
    views.listClusters(application, account),
    views.listServerGroups({ applications: [application], expand: true }),
    views.listServerGroups({ applications: [application], expand: false }),
    views.listServerGroupsByKeys([key]),
    views.listServerGroupManagers(application),
    views.listLoadBalancers(application),
    views.listRawResources(application),
    views.search({ query: 'cart', types: [] }),
  ];
  for (const { value } of await Promise.all(lists)) expect(value).toEqual([]);
  const finds = [
    views.findApplication(application),
    views.findCluster(cluster, { expand: true }),
    views.findServerGroup(key),
    views.findTargetServerGroup(target),
    views.findLoadBalancer(key),
    views.findSecurityGroup(key),
    views.findInstance(key),
    views.findManifest(missing),
  ];
  for (const found of await Promise.all(finds)) expect(found).toBeUndefined();
  expect((await views.listClusterNames(application)).value).toEqual({});
  // Accounts may stand there, by name and provider, but no group.
  expect(JSON.stringify((await views.listSecurityGroups({})).value)).not.toContain('[{');
  const project = { name: 'all', applications: [application], clusters: [{ account, applications: [] }] };
  expect(JSON.stringify((await views.listProjectClusters(project)).value)).not.toContain('cart');
  expect(JSON.stringify([...(await views.listAccountDetails([account])).values()])).not.toContain('cart');
}

/** Everything of the provider's accounts, without the minutes that epochs are made of. */
async function readCache(cache: CacheStore, provider: Provider, { application }: ProviderWorld) {
  const objects: object[] = [];
  const rows: object[] = [];
  for (const { name: account } of toSet(provider).accounts) {
    for (const kind of await cache.listKinds(account)) {
      for await (const page of cache.listObjects(account, kind)) {
        for (const object of page) {
          objects.push({ key: object.key, at: toResourceVersion(object.revision), body: object.readBody() });
        }
      }
    }
    for await (const page of cache.listRows({ application, account }, { consistent: true })) {
      for (const { view, row, read } of page) {
        const entries = [...read()].map(([name, { revision, value }]) => ({
          ...{ name, value },
          at: toResourceVersion(revision),
        }));
        rows.push({ view, row, entries });
      }
    }
  }
  const sort = (all: object[]) => all.map((each) => JSON.stringify(each)).sort();
  return { objects: sort(objects), rows: sort(rows), applications: await cache.listApplications() };
}

function toResourceVersion(revision: string): string {
  return parseRevision(revision).position;
}

import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable, lookupPartitions } from '#platform/aws/tables.ts';
import { createDiscoveryStore } from '#provider-kit/aws/discovery-store.ts';
import type { DiscoveryKey, DiscoveryStore, StoredDiscovery } from '#provider-kit/discovery-store.ts';
import { discoveryTextMax } from '#provider-kit/discovery-store.ts';
import { storedDiscoveryLifetimeMs } from '#providers/kubernetes/client/stored-discovery.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';
import { createTestClient, silentLog, TurnedClock } from './client-setup.ts';
import {
  type Answer,
  answerJson,
  type ScriptedServer,
  startScriptedServer,
  toDiscoveryDocument,
} from './scripted-server.ts';

const openTable = useLocalTables();

/** Answers as API servers do: with an ETag, and with 304 to who knows it. */
function answerTagged(etag: string, ...kinds: string[]): Answer {
  return (response, request) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else answerJson(200, toDiscoveryDocument(...kinds), { etag })(response, request);
  };
}

/** What processes of an installation share, and what they wrote. */
function share(clock: TurnedClock) {
  const { tableName, openDocuments } = openTable(cacheTable);
  const table = new ItemTable(openDocuments(), tableName);
  const store = createDiscoveryStore({ table, clock });
  const written: { readonly key: DiscoveryKey; readonly discovery: StoredDiscovery }[] = [];
  const counting: DiscoveryStore = {
    find: (key) => store.find(key),
    async put(key, discovery) {
      written.push({ key, discovery });
      await store.put(key, discovery);
    },
  };
  const name = testRandomness.id();
  const openProcess = (kubeconfigContents: string) =>
    createTestClient(
      { name, kubeconfigContents },
      { clock, log: silentLog, openDiscoveryStore: async () => counting },
    );
  return { openProcess, store, written, table, name };
}

describe('discovery that processes share', () => {
  let server: ScriptedServer;
  let clock: TurnedClock;
  let shared: ReturnType<typeof share>;

  beforeEach(async () => {
    server = await startScriptedServer();
    clock = new TurnedClock();
    shared = share(clock);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  async function find(kind: string, kubeconfig = server.getKubeconfig()) {
    await using client = shared.openProcess(kubeconfig);
    return await client.getResource('example.com/v1', kind);
  }

  test('spares a second process its call for a custom kind', async () => {
    server.script(answerTagged('"1"', 'Widget'));
    const first = await find('Widget');
    expect(server.seen).toHaveLength(1);
    clock.turn(storedDiscoveryLifetimeMs - 1_000);
    expect(await find('Widget')).toEqual(first);
    expect(server.seen).toHaveLength(1);
  });

  test('is read once by a process, and not at all for built-in kinds', async () => {
    let looks = 0;
    const openDiscoveryStore = async (): Promise<DiscoveryStore> => ({
      async find() {
        looks += 1;
        return { text: '[["example.com/v1","Widget","widgets",true]]', etag: '"1"', asOfMs: clock.now() };
      },
      async put() {
        throw new Error('nothing is news');
      },
    });
    const connection = { kubeconfigContents: server.getKubeconfig() };
    await using client = createTestClient(connection, { clock, openDiscoveryStore });
    await client.getResourceOfKind('deployment');
    expect(looks).toBe(0);
    await Promise.all([1, 2, 3].map(() => client.getResource('example.com/v1', 'Widget')));
    await client.getResourceOfKind('widget.example.com');
    expect(looks).toBe(1);
    expect(server.seen).toEqual([]);
  });

  test('says of no kind that it does not exist: a kind that was added is found', async () => {
    server.script(answerTagged('"1"', 'Widget'), answerTagged('"2"', 'Widget', 'Gadget'));
    await find('Widget');
    clock.turn(61_000);
    expect(await find('Gadget')).toMatchObject({ plural: 'gadgets' });
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    // The next one knows it.
    await find('Gadget');
    expect(server.seen).toHaveLength(2);
    await expect(find('Nothing')).rejects.toThrow('no matches for kind "Nothing"');
    expect(server.seen).toHaveLength(3);
  });

  test('is asked for anew when it is old, by its ETag, and then is as good as new', async () => {
    server.script(answerTagged('"1"', 'Widget'));
    await find('Widget');
    clock.turn(storedDiscoveryLifetimeMs);
    await find('Widget');
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    clock.turn(storedDiscoveryLifetimeMs - 1_000);
    await find('Widget');
    expect(server.seen).toHaveLength(2);
  });

  test('is written when it changed, and not for each reading', async () => {
    server.script(answerTagged('"1"', 'Widget'));
    await find('Widget');
    clock.turn(61_000);
    await expect(find('Gadget')).rejects.toThrow('no matches');
    expect(shared.written).toHaveLength(1);
    server.script(answerTagged('"2"', 'Gadget'));
    await find('Gadget');
    expect(shared.written).toHaveLength(2);
  });

  test('a server without ETags is asked for the whole', async () => {
    server.script(answerJson(200, toDiscoveryDocument('Widget')));
    await find('Widget');
    await find('Widget');
    clock.turn(storedDiscoveryLifetimeMs);
    await find('Widget');
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  test('an account that leads to another server uses nothing of its former one', async () => {
    await using other = await startScriptedServer();
    server.script(answerTagged('"1"', 'Widget'));
    other.script(answerTagged('"1"', 'Gadget'));
    await find('Widget');
    await expect(find('Widget', other.getKubeconfig())).rejects.toThrow('no matches');
    expect(other.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined]);
    expect(await find('Gadget', other.getKubeconfig())).toMatchObject({ plural: 'gadgets' });
    expect(other.seen).toHaveLength(1);
  });

  test('a kind that the server does not serve any more is asked of it, and not of the store', async () => {
    server.script(
      answerTagged('"1"', 'Widget'),
      (response) => response.writeHead(404).end('404 page not found\n'),
      answerTagged('"2"', 'Gadget'),
    );
    await find('Widget');
    await using client = shared.openProcess(server.getKubeconfig());
    const resource = await client.getResource('example.com/v1', 'Widget');
    await expect(client.get({ resource, namespace: 'shop', name: 'one' })).rejects.toThrow('does not serve');
    await expect(client.getResource('example.com/v1', 'Widget')).rejects.toThrow('no matches');
  });

  const bomb = gzipSync(`[["example.com/v1","Widget","others",true]${' '.repeat(discoveryTextMax)}]`);
  const pack = (value: unknown) => gzipSync(JSON.stringify(value));
  test.each([
    ['bytes that are no gzip', { data: Buffer.from('nothing') }],
    ['a text in the place of bytes', { data: 'nothing' }],
    ['no time', { asOfMs: 'now' }],
    ['too many bytes when they are unpacked', { data: bomb }],
    ['what is no JSON', { data: gzipSync('[[') }],
    ['what is no list', { data: pack({ kind: 'APIGroupDiscoveryList' }) }],
    ['a path in the place of a name', { data: pack([['example.com/v1', 'Widget', '../secrets', true]]) }],
    ['a version that leads elsewhere', { data: pack([['../v1', 'Widget', 'secrets', true]]) }],
    ['a resource of the core group', { data: pack([['v1', 'Widget', 'secrets', true]]) }],
    ['a time of the future', { asOfMs: Date.UTC(2031, 0, 1) }],
  ])('an item with %s is not used', async (_, broken) => {
    server.script(answerTagged('"1"', 'Widget'));
    await find('Widget');
    const key = shared.written[0]?.key;
    const pk = `${lookupPartitions}DISCOVERY#${key?.account}#${key?.server}`;
    const item = await shared.table.get({ pk, sk: 'DISCOVERY' });
    expect(String(gunzipSync(item?.['data'] as Uint8Array))).toBe(
      '[["example.com/v1","Widget","widgets",true]]',
    );
    await shared.table.put({ ...item, pk, sk: 'DISCOVERY', etag: '"0"', ...broken });
    await using client = shared.openProcess(server.getKubeconfig());
    expect(await client.getResourceOfKind('widget')).toMatchObject({ plural: 'widgets' });
    expect(server.seen).toHaveLength(2);
  });

  test('a store that is away costs a call of the server, and nothing else', async () => {
    const openDiscoveryStore = async () => {
      throw new Error('the table is away');
    };
    const connection = { kubeconfigContents: server.getKubeconfig() };
    server.script(answerTagged('"1"', 'Widget'));
    await using client = createTestClient(connection, { clock, openDiscoveryStore });
    expect(await client.getResource('example.com/v1', 'Widget')).toMatchObject({ plural: 'widgets' });
    expect(server.seen).toHaveLength(1);
  });

  test('what does not fit into an item is not kept', async () => {
    const key = { account: shared.name, server: 'one' };
    const text = randomBytes(400 * 1024).toString('hex');
    await shared.store.put(key, { text, etag: undefined, asOfMs: clock.now() });
    expect(await shared.store.find(key)).toBeUndefined();
  });
});

describeWithCluster('discovery that processes of a real cluster share', (cluster) => {
  test('is confirmed by the ETag of the API server', async () => {
    const clock = new TurnedClock();
    const found: StoredDiscovery[] = [];
    const store: DiscoveryStore = {
      find: async () => found.at(-1),
      async put(_key, discovery) {
        found.push(discovery);
      },
    };
    const connection = { kubeconfigFile: cluster.kubeconfig };
    const options = { clock, openDiscoveryStore: async () => store };
    // Suites beside this one install kinds: what was found may be out of date at once.
    const findPlanted = async () => {
      found.length = 0;
      await using first = createTestClient(connection, options);
      await first.getResource('metrics.k8s.io/v1beta1', 'PodMetrics');
      expect(found[0]?.etag).toMatch(/^".{32,}"$/);
      // Only who goes by the ETag finds what the server does not serve.
      const planted = JSON.stringify([['example.com/v1', 'Planted', 'planteds', true]]);
      found.push({ text: planted, etag: found[0]?.etag, asOfMs: 0 });
      await using second = createTestClient(connection, options);
      return await second.getResource('example.com/v1', 'Planted');
    };
    await expect.poll(findPlanted).toMatchObject({ plural: 'planteds' });
  });
});

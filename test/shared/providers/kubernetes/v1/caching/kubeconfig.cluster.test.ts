import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openRegistration } from './registration-setup.ts';
import { nameNamespace } from './registration-world.ts';

describeWithCluster('a V1 account by its kubeconfig', (cluster) => {
  const openTable = useLocalTables();

  /** A home with a kubeconfig of two clusters and two users, whose current context has a namespace. */
  async function openHome(namespace: string) {
    const stack = new AsyncDisposableStack();
    const [one, other] = [stack.use(await startApiProxy(cluster)), stack.use(await startApiProxy(cluster))];
    const home = stack.use(await makeTempDir());
    const file = path.join(home.path, '.kube', 'config');
    await mkdir(path.dirname(file));
    const kubeconfig = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'here' },
      clusters: [
        { name: 'one', cluster: { server: await readServer(one) } },
        { name: 'other', cluster: { server: await readServer(other) } },
      ],
      users: [
        { name: 'admin', user: { token: cluster.token } },
        { name: 'stranger', user: { token: 'not-a-token' } },
      ],
      contexts: [
        { name: 'here', context: { cluster: 'one', user: 'admin', namespace } },
        { name: 'there', context: { cluster: 'other', user: 'admin' } },
      ],
    };
    await writeFile(file, JSON.stringify(kubeconfig));
    const { tableName, openDocuments } = openTable(cacheTable);
    const parts = { clock: systemClock, randomness: systemRandomness, codecs: {} };
    const cache = createCacheStore({ documents: openDocuments(), tableName, ...parts });
    const run = async (fields: JsonObject) => {
      const environment = { HOME: home.path };
      await using bench = await openRegistration({ fields, cache, environment });
      return await bench.run();
    };
    return { one, other, file, run, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  const listLooks = ({ calls }: ApiProxy) =>
    calls
      .filter(({ method }) => method === 'GET')
      .map((call) => call.path.replace('/api/v1/namespaces/', ''));

  test('by default the file at ~/.kube/config is used; user, cluster and namespace are those of its current-context', async () => {
    await using shop = nameNamespace();
    await using home = await openHome(shop.name);
    expect(await home.run({})).toMatchObject({ items: 1, changes: 1 });
    expect([listLooks(home.one), listLooks(home.other)]).toEqual([[shop.name], []]);
  });

  test('unless kubeconfigFile is specified', async () => {
    await using shop = nameNamespace();
    await using home = await openHome(shop.name);
    await using elsewhere = await openHome('not-this');
    await home.run({ kubeconfigFile: home.file });
    await elsewhere.run({ kubeconfigFile: home.file });
    expect([listLooks(home.one), listLooks(elsewhere.one)]).toEqual([[shop.name, shop.name], []]);
  });

  test('user, cluster and namespaces are those of their fields where these are provided', async () => {
    await using shop = nameNamespace();
    await using pay = nameNamespace();
    await using home = await openHome(shop.name);
    await home.run({ cluster: 'other' });
    expect([listLooks(home.one), listLooks(home.other)]).toEqual([[], [shop.name]]);
    await home.run({ namespaces: [pay.name] });
    expect(listLooks(home.one)).toEqual([pay.name]);
    await expect(home.run({ user: 'stranger' })).rejects.toThrow(/Unauthorized|refuses the credentials/);
  });
});

async function readServer({ kubeconfig }: ApiProxy): Promise<string> {
  const { clusters } = JSON.parse(await readFile(kubeconfig, 'utf8'));
  return clusters[0].cluster.server;
}

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { asString, getPath, type JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { pullSecretCheckMs } from '#providers/kubernetes/v1/caching/pull-secrets.ts';
import { openAgentSystem } from '#test/support/agents/agent-system.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { findLive } from '../../live.ts';
import { openRegistration } from './registration-setup.ts';
import { findDockercfg, nameNamespace, toAuth } from './registration-world.ts';

const password = 'planted-s3cr3t';
const hub = {
  name: 'hub',
  address: 'https://hub.example.com',
  username: 'robot',
  password,
  email: 'r@example.com',
};
const hubConfig = { 'https://hub.example.com': { auth: toAuth('robot', password), email: 'r@example.com' } };

describeWithCluster('a V1 account in its cluster', (cluster) => {
  const openTable = useLocalTables();
  const openCache = () => {
    const { tableName, openDocuments } = openTable(cacheTable);
    const parts = { clock: systemClock, randomness: systemRandomness, codecs: {} };
    return createCacheStore({ documents: openDocuments(), tableName, ...parts });
  };
  const open = (fields: JsonObject, registries: readonly JsonObject[] = [hub]) =>
    openRegistration({
      fields: { kubeconfigFile: cluster.kubeconfig, ...fields },
      ...{ registries, cache: openCache() },
    });

  test('any namespaces that do not exist are created', async () => {
    await using missing = nameNamespace();
    await using ns = await createNamespace();
    await using bench = await open({ namespaces: [ns.name, missing.name] });
    const uid = getPath(await findObject(`/api/v1/namespaces/${ns.name}`), 'metadata', 'uid');
    expect(await bench.run()).toMatchObject({ outcome: 'done', items: 2, changes: 3 });
    expect(await findObject(`/api/v1/namespaces/${missing.name}`)).toBeDefined();
    expect(getPath(await findObject(`/api/v1/namespaces/${ns.name}`), 'metadata', 'uid')).toBe(uid);
    const told = bench.lines.filter((line) => line.includes('Created missing namespace'));
    expect(told).toEqual([
      JSON.stringify({ message: 'Created missing namespace', account: 'old', namespace: missing.name }),
    ]);
  });

  test('if no namespace is found in either place, the value ["default"] is used', async () => {
    const name = `hub-${systemRandomness.id().toLowerCase()}`;
    await using bench = await open({ dockerRegistries: [{ accountName: name }] }, [{ ...hub, name }]);
    try {
      expect(await bench.run()).toMatchObject({ items: 1, changes: 1 });
      expect(await findDockercfg('default', name)).toEqual(hubConfig);
    } finally {
      await requestApi('DELETE', `/api/v1/namespaces/default/secrets/${name}`);
    }
  });

  test('the Docker authentication details are read from each listed account, and configured as an image pull secret', async () => {
    await using ns = await createNamespace();
    const dockerRegistries = [{ accountName: 'hub' }, { accountName: 'open' }];
    const registries = [hub, { name: 'open', address: 'https://open.example.com' }];
    await using bench = await open({ namespaces: [ns.name], dockerRegistries }, registries);
    await bench.run();
    expect(await findLive(ns.name, 'secrets/hub')).toMatchObject({
      type: 'kubernetes.io/dockercfg',
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'spinnaker' } },
    });
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
    // Anybody may pull from it: pods name the secret all the same.
    expect(await findDockercfg(ns.name, 'open')).toEqual({});
  });

  test('the namespaces of a registry default to the full list of namespaces', async () => {
    await using one = await createNamespace();
    await using other = await createNamespace();
    const dockerRegistries = [{ accountName: 'hub' }, { accountName: 'quay', namespaces: [other.name] }];
    const registries = [hub, { ...hub, name: 'quay', address: 'https://quay.example.com' }];
    await using bench = await open({ namespaces: [one.name, other.name], dockerRegistries }, registries);
    expect(await bench.run()).toMatchObject({ changes: 3 });
    expect(await findLive(other.name, 'secrets/quay')).toBeDefined();
    expect(await findLive(one.name, 'secrets/quay')).toBeUndefined();
  });

  test('image pull secrets are kept up to date, and written only when something changed', async () => {
    await using ns = await createNamespace();
    await using temp = await makeTempDir();
    const passwordFile = path.join(temp.path, 'password');
    await writeFile(passwordFile, 'old');
    const { password: _, ...account } = hub;
    await using bench = await open({ namespaces: [ns.name] }, [{ ...account, passwordFile }]);
    await bench.run();
    const first = await findLive(ns.name, 'secrets/hub');
    expect(await bench.run()).toMatchObject({ changes: 0 });
    bench.clock.advance(pullSecretCheckMs);
    expect(await bench.run()).toMatchObject({ changes: 0 });
    expect(await findLive(ns.name, 'secrets/hub')).toEqual(first);
    await writeFile(passwordFile, password);
    expect(await bench.run()).toMatchObject({ changes: 1 });
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
    await requestApi('DELETE', `/api/v1/namespaces/${ns.name}/secrets/hub`);
    bench.clock.advance(pullSecretCheckMs);
    expect(await bench.run()).toMatchObject({ changes: 1 });
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
  });

  test('a Secret of another type is left alone, and none is written where that is switched off', async () => {
    await using ns = await createNamespace();
    const target = `/api/v1/namespaces/${ns.name}/secrets`;
    const own = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hub' }, stringData: { a: 'b' } };
    await requestApi('POST', target, own);
    await using bench = await open({ namespaces: [ns.name] });
    expect(await bench.run()).toMatchObject({
      changes: 0,
      details: {
        warnings:
          `pull secret "hub" in namespace "${ns.name}" cannot be kept: a Secret of that name is there, of another type than ` +
          'kubernetes.io/dockercfg',
      },
    });
    expect(await findLive(ns.name, 'secrets/hub')).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
    await requestApi('DELETE', `${target}/hub`);
    await using without = await open({ namespaces: [ns.name], configureImagePullSecrets: false });
    expect(await without.run()).not.toHaveProperty('details.warnings');
    expect(await findLive(ns.name, 'secrets/hub')).toBeUndefined();
  });

  test('it attempts to fetch every provided namespace each 30 seconds', async () => {
    await using one = await createNamespace();
    await using other = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    await using bench = await open({ kubeconfigFile: proxy.kubeconfig, namespaces: [one.name, other.name] });
    const system = openAgentSystem(openTable(cacheTable));
    system.wanted = [system.clock.track(bench.agent)];
    await system.live(600_000);
    const count = (name: string) =>
      proxy.calls.filter(({ method, path }) => method === 'GET' && path === `/api/v1/namespaces/${name}`)
        .length;
    expect([20, 21]).toContain(count(one.name));
    expect(count(other.name)).toBe(count(one.name));
    // Nothing else is asked for while nothing changes: each secret was looked for and made once.
    expect(proxy.calls.filter(({ path }) => path.includes('/secrets'))).toHaveLength(4);
    await system.clear();
  });

  test('what is refused for one namespace is told once, and costs no other', async () => {
    await using ns = await createNamespace();
    const isFoul = (target: string) => target === '/api/v1/namespaces/foul';
    await using proxy = await startApiProxy(cluster, {
      getFault: ({ path: target }) =>
        isFoul(target)
          ? { type: 'status', status: 403, message: 'namespaces "foul" is forbidden' }
          : undefined,
    });
    await using bench = await open({ kubeconfigFile: proxy.kubeconfig, namespaces: ['foul', ns.name] });
    const result = await bench.run();
    const warnings = asString(result.details?.['warnings']);
    expect(warnings).toContain('namespace "foul" cannot be read: namespaces "foul" is forbidden');
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
    await bench.run();
    expect(
      bench.lines.filter((line) => line.includes('a V1 account is not as its settings say')),
    ).toHaveLength(1);
  });

  test('a registry account that nobody knows is told of, and looked for again', async () => {
    await using ns = await createNamespace();
    const dockerRegistries = [{ accountName: 'nobody' }, { accountName: 'hub' }];
    await using bench = await open({ namespaces: [ns.name], dockerRegistries });
    const warnings =
      'the pull secret of registry account "nobody": there is no Docker registry account \'nobody\'';
    for (const changes of [1, 0]) expect(await bench.run()).toMatchObject({ changes, details: { warnings } });
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
  });

  test('a namespace that comes later to an account of all gets its secrets with the next run', async () => {
    const mine = new Set<string>();
    const refused = { type: 'status', status: 403, message: 'not mine' } as const;
    await using proxy = await startApiProxy(cluster, {
      getFault: ({ path: target }) => {
        const [, , , , namespace = '', resource] = target.split('/');
        return resource === 'secrets' && !mine.has(namespace) ? refused : undefined;
      },
    });
    await using bench = await open({ kubeconfigFile: proxy.kubeconfig, namespaces: ['*'] });
    await bench.run();
    await using ns = await createNamespace();
    mine.add(ns.name);
    await bench.run();
    expect(await findDockercfg(ns.name, 'hub')).toEqual(hubConfig);
  });

  test('fails as a whole while the API server is away', async () => {
    await using bench = await open({
      kubeconfigFile: '',
      kubeconfigContents: awayKubeconfig,
      namespaces: ['a'],
    });
    await expect(bench.run()).rejects.toThrow('the connection was refused');
  });

  test('no password is in what is logged, told or left for the next run', async () => {
    await using ns = await createNamespace();
    const target = `/api/v1/namespaces/${ns.name}/secrets`;
    const metadata = { name: 'hub' };
    const data = { '.dockercfg': Buffer.from('{}').toString('base64') };
    const type = 'kubernetes.io/dockercfg';
    await requestApi('POST', target, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type,
      data,
      immutable: true,
    });
    await using bench = await open({ namespaces: [ns.name], debug: true });
    const told = JSON.stringify([await bench.run(), bench.lines]);
    expect(told).toContain('cannot be kept');
    for (const secret of [
      password,
      toAuth('robot', password),
      Buffer.from(JSON.stringify(hubConfig)).toString('base64'),
    ])
      expect(told).not.toContain(secret);
  });
});

const awayKubeconfig = JSON.stringify({
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
  clusters: [{ name: 'one', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'one', user: {} }],
  contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
});

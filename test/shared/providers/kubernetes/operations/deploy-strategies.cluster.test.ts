import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { getPath } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf, listNames } from '../live.ts';
import { createConfigMap, createService, createWorkload, toStrategy } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { type OperationResult, runOperation } from './task-run.ts';

const lastApplied = ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'];

describeWithCluster('strategies of deployManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'deployManifest');

  function deploy(manifests: readonly Manifest[], more: JsonObject = {}): Promise<OperationResult> {
    const description = { account: 'test', moniker: { app: 'shop' }, manifests: [...manifests], ...more };
    return runOperation(operation, description);
  }

  test('recreate makes another object; what others added is gone', async () => {
    await using ns = await createNamespace();
    const annotations = toStrategy('recreate');
    const flags = createConfigMap('flags', { a: '1' }, { namespace: ns.name, annotations });
    await deploy([flags]);
    await requestApi('PATCH', getPathOf(ns.name, 'configmaps/flags'), { data: { foreign: 'x' } });
    const before = await findLive(ns.name, 'configmaps/flags');
    await deploy([flags]);
    const after = await findLive(ns.name, 'configmaps/flags');
    expect(after).toMatchObject({ data: { a: '1' } });
    expect(after).not.toHaveProperty('data.foreign');
    expect(getPath(after, 'metadata', 'uid')).not.toBe(getPath(before, 'metadata', 'uid'));
  });

  test('recreate waits until the old object has really gone', async () => {
    await using ns = await createNamespace();
    const annotations = toStrategy('recreate');
    const flags = createConfigMap('flags', {}, { namespace: ns.name, annotations });
    await deploy([flags]);
    const path = getPathOf(ns.name, 'configmaps/flags');
    await requestApi('PATCH', path, { metadata: { finalizers: ['busdriver.test/hold'] } });
    let ended = false;
    const deploying = deploy([flags]).finally(() => {
      ended = true;
    });
    await expect
      .poll(() => findLive(ns.name, 'configmaps/flags'), { timeout: 20_000 })
      .toHaveProperty('metadata.deletionTimestamp');
    expect(ended).toBe(false);
    await requestApi('PATCH', path, { metadata: { finalizers: null } });
    await deploying;
    expect(await findLive(ns.name, 'configmaps/flags')).not.toHaveProperty('metadata.deletionTimestamp');
  });

  test('replace leaves nothing of others, and creates what is missing', async () => {
    await using ns = await createNamespace();
    const annotations = toStrategy('replace');
    const flags = createConfigMap('flags', { a: '1' }, { namespace: ns.name, annotations });
    await deploy([flags]);
    const created = await findLive(ns.name, 'configmaps/flags');
    await requestApi('PATCH', getPathOf(ns.name, 'configmaps/flags'), { data: { foreign: 'x' } });
    await deploy([flags]);
    const replaced = await findLive(ns.name, 'configmaps/flags');
    expect(replaced?.data).toEqual({ a: '1' });
    expect(getPath(replaced, 'metadata', 'uid')).toBe(getPath(created, 'metadata', 'uid'));
  });

  test('what is too large for the record of an apply is refused with what helps, which does', async () => {
    await using ns = await createNamespace();
    const make = (length: number, annotations: JsonObject) =>
      createConfigMap('large', { text: 'x'.repeat(length) }, { namespace: ns.name, annotations });
    const applied = { 'strategy.spinnaker.io/versioned': 'false' };
    const advice =
      /metadata.annotations: Too long.*; .* strategy.spinnaker.io\/server-side-apply: "true", or .*\/replace: "true"/;
    await expect(deploy([make(300_000, applied)])).rejects.toThrow(advice);
    await deploy([make(1, applied)]);
    await expect(deploy([make(300_000, applied)])).rejects.toThrow(advice);
    for (const [index, strategy] of ['server-side-apply', 'replace'].entries()) {
      await deploy([make(300_000 + index, toStrategy(strategy))]);
      const live = await findLive(ns.name, 'configmaps/large');
      expect(getPath(live, 'data', 'text')).toHaveLength(300_000 + index);
    }
  });

  test('server-side apply leaves no record of its own, and reports conflicts unless forced', async () => {
    await using ns = await createNamespace();
    const parts = (mode: string) => ({
      namespace: ns.name,
      annotations: toStrategy('server-side-apply', mode),
    });
    const flags = (value: string, mode: string) => createConfigMap('flags', { value }, parts(mode));
    await deploy([flags('1', 'true')]);
    const live = await findLive(ns.name, 'configmaps/flags');
    expect(live).not.toHaveProperty(lastApplied);
    await requestApi('PATCH', getPathOf(ns.name, 'configmaps/flags'), { data: { value: 'foreign' } });
    await expect(deploy([flags('2', 'true')])).rejects.toThrow(/conflict/);
    await deploy([flags('2', 'force-conflicts')]);
    expect(await findLive(ns.name, 'configmaps/flags')).toMatchObject({ data: { value: '2' } });
  });

  test('any other value of the annotation means an ordinary apply', async () => {
    await using ns = await createNamespace();
    const annotations = toStrategy('server-side-apply', 'no');
    await deploy([createConfigMap('flags', {}, { namespace: ns.name, annotations })]);
    expect(await findLive(ns.name, 'configmaps/flags')).toHaveProperty(lastApplied);
  });

  const keepsCapacity = { 'strategy.spinnaker.io/use-source-capacity': 'true' };

  test('source capacity: a Deployment keeps the replicas it runs with', async () => {
    await using ns = await createNamespace();
    const web = (image: string) =>
      createWorkload('Deployment', 'web', {
        namespace: ns.name,
        replicas: 1,
        image,
        annotations: keepsCapacity,
      });
    await deploy([web('registry.test/web:1')]);
    expect(await findLive(ns.name, 'deployments/web')).toHaveProperty('spec.replicas', 1);
    await requestApi('PATCH', getPathOf(ns.name, 'deployments/web'), { spec: { replicas: 3 } });
    await deploy([web('registry.test/web:2')]);
    expect(await findLive(ns.name, 'deployments/web')).toHaveProperty('spec.replicas', 3);
  });

  test('source capacity: a new ReplicaSet takes the replicas of the latest version', async () => {
    await using ns = await createNamespace();
    const web = createWorkload('ReplicaSet', 'web', {
      namespace: ns.name,
      replicas: 1,
      annotations: keepsCapacity,
    });
    await deploy([web]);
    await deploy([web]);
    await requestApi('PATCH', getPathOf(ns.name, 'replicasets/web-v001'), { spec: { replicas: 2 } });
    await deploy([web]);
    expect(await findLive(ns.name, 'replicasets/web-v002')).toHaveProperty('spec.replicas', 2);
  });

  test('puts a workload behind services of the request and of the cluster', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'services', createService('live', { behind: 'live' }));
    const manifests = [
      createWorkload('ReplicaSet', 'web', { namespace: ns.name }),
      createService('new', { serves: 'new' }, { namespace: ns.name }),
      createConfigMap('flags', {}, { namespace: ns.name }),
    ];
    await deploy(manifests, { services: ['service live', 'service new'] });
    const live = await findLive(ns.name, 'replicasets/web-v000');
    expect(live).toMatchObject({
      metadata: { annotations: { 'traffic.spinnaker.io/load-balancers': '["service live","service new"]' } },
      spec: { template: { metadata: { labels: { app: 'web', behind: 'live', serves: 'new' } } } },
    });
    expect(live).toHaveProperty('spec.selector.matchLabels', { app: 'web' });
    const flags = await findLive(ns.name, 'configmaps/flags-v000');
    expect(flags).not.toHaveProperty(['metadata', 'annotations', 'traffic.spinnaker.io/load-balancers']);
  });

  test('with traffic off only remembers the services', async () => {
    await using ns = await createNamespace();
    const web = createWorkload('ReplicaSet', 'web', { namespace: ns.name });
    await deploy([web], { services: ['service later'], enableTraffic: false });
    expect(await findLive(ns.name, 'replicasets/web-v000')).toMatchObject({
      metadata: { annotations: { 'traffic.spinnaker.io/load-balancers': '["service later"]' } },
    });
  });

  test.each([
    {
      what: 'is not there',
      name: 'service missing',
      selector: undefined,
      message: 'Load balancer service missing was not found',
    },
    {
      what: 'is no load balancer',
      name: 'deployment web',
      selector: undefined,
      message: "'deployment web' is no load balancer",
    },
    {
      what: 'selects nothing',
      name: 'service headless',
      selector: {},
      message: 'service headless has no selector',
    },
    {
      what: 'selects by a label that is there',
      name: 'service same',
      selector: { app: 'web' },
      message: 'has the labels app already',
    },
  ])('refuses a service that $what, and submits nothing', async ({ name, selector, message }) => {
    await using ns = await createNamespace();
    const service = createService(name.split(' ')[1] ?? '', selector ?? {}, { namespace: ns.name });
    const manifests = [
      createConfigMap('flags', {}, { namespace: ns.name }),
      createWorkload('ReplicaSet', 'web', { namespace: ns.name }),
      ...(selector === undefined ? [] : [service]),
    ];
    await expect(deploy(manifests, { services: [name] })).rejects.toThrow(message);
    expect(await listNames(ns.name, 'configmaps')).toEqual([]);
  });
});

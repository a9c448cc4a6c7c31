import { afterAll, expect, test } from 'vitest';
import { asJsonObject, getPath, type JsonObject } from '#core/json.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf } from '../live.ts';
import { createManifest, createService, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, runOperation } from './task-run.ts';

const annotations = { 'traffic.spinnaker.io/load-balancers': '["service web","service all"]' };
const own = { app: 'web' };
/** Labels by which the two services select. */
const serving = { serves: 'web', zone: 'all' };

/** Of the template and of two pods. */
const thrice = (labels: JsonObject) => [labels, labels, labels];

describeWithCluster('enableManifest and disableManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const enable = getOperation(provider, 'enableManifest');
  const disable = getOperation(provider, 'disableManifest');

  test('a ReplicaSet and its pods leave their services, and come back', async () => {
    await using ns = await createNamespace();
    const description = await makeReplicaSet(ns.name);
    const what = `replicaSet web in namespace ${ns.name}`;
    const record = emptyRecord();
    await runOperation(enable, description);
    expect(await readLabels(ns.name)).toEqual(thrice({ ...own, ...serving }));
    expect(await runOperation(disable, description, { record })).toEqual({});
    expect(await readLabels(ns.name)).toEqual(thrice(own));
    expect(listHistory(record)).toEqual([
      `Disabling ${what}`,
      `Load balancers of ${what}: service web, service all`,
      `Labelled 2 pods of ${what}`,
      `Disabled ${what}`,
    ]);
  });

  test.each(['service web', "['service web']", '["service web", 1]', '{"0": "service web"}'])(
    'refuses a workload that is annotated with %s, by name',
    async (text) => {
      await using ns = await createNamespace();
      const description = await makeReplicaSet(ns.name);
      await requestApi('PATCH', getPathOf(ns.name, 'replicasets/web'), {
        metadata: { annotations: { 'traffic.spinnaker.io/load-balancers': text } },
      });
      await expect(runOperation(disable, description)).rejects.toThrow(
        'replicaSet web: annotation traffic.spinnaker.io/load-balancers: expected a JSON array such as ["service web"]',
      );
      const deploy = getOperation(provider, 'deployManifest');
      const manifest = createWorkload('ReplicaSet', 'web', {
        annotations: { 'traffic.spinnaker.io/load-balancers': text },
      });
      const more = { account: 'test', moniker: { app: 'shop' }, enableTraffic: false };
      expect(() => deploy.prepare({ ...more, manifests: [manifest] })).toThrow(
        'replicaSet web: annotation traffic.spinnaker.io/load-balancers: expected a JSON array',
      );
      const service = createService(
        'web',
        { app: 'web' },
        { annotations: { 'traffic.spinnaker.io/load-balancers': text } },
      );
      expect(() => deploy.prepare({ ...more, manifests: [service] })).not.toThrow();
    },
  );

  test('costs a call for each object, and one to list the pods', async () => {
    await using ns = await createNamespace();
    const description = await makeReplicaSet(ns.name);
    await using proxy = await startApiProxy(cluster);
    await using counted = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    await runOperation(getOperation(counted, 'enableManifest'), description);
    const listCalls = () => proxy.calls.splice(0).map(({ method }) => method);
    expect(listCalls()).toEqual(['GET', 'GET', 'GET', 'PATCH', 'GET', 'PATCH', 'PATCH']);
    await runOperation(getOperation(counted, 'enableManifest'), description);
    expect(listCalls()).toEqual(['GET', 'GET', 'GET', 'GET']);
  });

  test('a repeat sends what was decided, whatever the services select by then', async () => {
    await using ns = await createNamespace();
    const description = await makeReplicaSet(ns.name);
    const record = emptyRecord();
    const crash = runOperation(enable, description, { record, crashAtCommit: 2 });
    await expect(crash).rejects.toBeInstanceOf(CrashError);
    await requestApi('PATCH', getPathOf(ns.name, 'services/web'), { spec: { selector: { other: 'x' } } });
    await runOperation(enable, description, { record });
    expect(await readLabels(ns.name)).toEqual(thrice({ ...own, ...serving }));
    expect(listHistory(record)).toHaveLength(4);
  });

  test('the load balancers of the request count before those of the annotation', async () => {
    await using ns = await createNamespace();
    const description = await makeReplicaSet(ns.name);
    await runOperation(enable, { ...description, loadBalancers: ['svc all'] });
    expect(await readLabels(ns.name)).toEqual(thrice({ ...own, zone: 'all' }));
  });

  test.each([
    ['Deployment', 'deployments'],
    ['StatefulSet', 'statefulsets'],
    ['DaemonSet', 'daemonsets'],
  ] as const)('a %s gets another pod template, which its controller rolls out', async (kind, plural) => {
    await using ns = await createNamespace();
    await makeServices(ns.name);
    const more = { nodeSelector: { nowhere: 'to-be-found' } };
    await createLive(ns.name, plural, createWorkload(kind, 'web', { annotations, more }));
    const description = { account: 'test', manifestName: `${kind} web`, location: ns.name };
    await runOperation(enable, description);
    const readTemplateLabels = async () =>
      getPath(await findLive(ns.name, `${plural}/web`), 'spec', 'template', 'metadata', 'labels');
    expect(await readTemplateLabels()).toEqual({ ...own, ...serving });
    await runOperation(disable, description);
    expect(await readTemplateLabels()).toEqual(own);
  });

  test('a pod is labelled itself', async () => {
    await using ns = await createNamespace();
    await makeServices(ns.name);
    const spec = { containers: [{ name: 'main', image: 'registry.test/web:1' }] };
    const pod = createManifest('v1', 'Pod', { name: 'web', annotations, more: { spec } });
    await createLive(ns.name, 'pods', pod);
    const description = { account: 'test', manifestName: 'pod web', location: ns.name };
    await runOperation(enable, description);
    const readPodLabels = async () =>
      pickOurs(getPath(await findLive(ns.name, 'pods/web'), 'metadata', 'labels'));
    expect(await readPodLabels()).toEqual(serving);
    await runOperation(disable, description);
    expect(await readPodLabels()).toEqual({});
  });

  test('without load balancers there is nothing to do', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'deployments', createWorkload('Deployment', 'web'));
    const record = emptyRecord();
    const description = { account: 'test', manifestName: 'deployment web', location: ns.name };
    expect(await runOperation(disable, description, { record })).toEqual({});
    expect(listHistory(record)).toContain(`Load balancers of deployment web in namespace ${ns.name}: none`);
  });

  test('says what is missing, or cannot be selected by', async () => {
    await using ns = await createNamespace();
    const description = { account: 'test', manifestName: 'replicaSet web', location: ns.name };
    await expect(runOperation(disable, description)).rejects.toThrow('replicaSet web in namespace');
    await createLive(ns.name, 'replicasets', createWorkload('ReplicaSet', 'web', { annotations }));
    await expect(runOperation(disable, description)).rejects.toThrow(
      /^Disabling replicaSet web in namespace \S+ failed: Load balancer service (web|all) was not found/,
    );
    await createLive(ns.name, 'services', createService('bare', {}));
    await expect(runOperation(enable, { ...description, loadBalancers: ['service bare'] })).rejects.toThrow(
      'service bare has no selector',
    );
  });

  /** Makes two services and a ReplicaSet with two pods, and answers its description. */
  async function makeReplicaSet(namespace: string): Promise<JsonObject> {
    await makeServices(namespace);
    const replicaSet = createWorkload('ReplicaSet', 'web', { annotations, replicas: 2 });
    await createLive(namespace, 'replicasets', replicaSet);
    await expect.poll(() => readLabels(namespace)).toHaveLength(3);
    return { account: 'test', manifestName: 'replicaSet web', location: namespace };
  }

  async function makeServices(namespace: string): Promise<void> {
    const path = getPathOf(namespace, 'services');
    await requestApi('POST', path, createService('web', { serves: 'web' }));
    await requestApi('POST', path, createService('all', { zone: 'all' }));
  }

  /** The labels of the ReplicaSet's template, then those of its pods. */
  async function readLabels(namespace: string): Promise<unknown[]> {
    const replicaSet = await findLive(namespace, 'replicasets/web');
    const pods = (await requestApi('GET', getPathOf(namespace, 'pods'))) as { items: JsonObject[] };
    return [
      getPath(replicaSet, 'spec', 'template', 'metadata', 'labels'),
      ...pods.items.map((pod) => pickOurs(getPath(pod, 'metadata', 'labels'))),
    ];
  }
});

/** Without the labels that a pod gets from its node. */
function pickOurs(labels: unknown): JsonObject {
  const entries = Object.entries(asJsonObject(labels) ?? {});
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith('topology.kubernetes.io/')));
}

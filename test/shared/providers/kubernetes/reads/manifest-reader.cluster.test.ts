import { afterAll, beforeAll, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import type { ManifestReader } from '#provider-kit/live-reads.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { readManifest, toSet } from '#test/support/providers/provider-set.ts';
import { createLive } from '../live.ts';
import {
  createConfigMap,
  createManifest,
  createSecret,
  createWorkload,
  type ManifestParts,
  toMoniker,
} from '../manifests.ts';
import { openProvider } from '../provider-setup.ts';

const quiet = { account: 'test', includeEvents: false, revealSecrets: false };
const image = { type: 'docker/image', name: 'registry.test/web' };
const [yes, no] = [{ state: true }, { state: false }];

describeWithCluster('reading manifests', (cluster) => {
  const provider = openProvider([
    { name: 'test', kubeconfigFile: cluster.kubeconfig },
    { name: 'unmeasured', kubeconfigFile: cluster.kubeconfig, metrics: false },
  ]);
  let reader: ManifestReader;
  beforeAll(async () => {
    reader = await toSet(provider).getLiveReader('test', 'manifests');
  });
  afterAll(() => provider[Symbol.asyncDispose]());

  async function read(
    location: string,
    name: string,
    more: { account?: string; includeEvents?: boolean; revealSecrets?: boolean } = {},
  ) {
    const view = await reader.getManifest({ ...quiet, location, name, includeEvents: true, ...more });
    return { text: JSON.stringify(view), view: JSON.parse(JSON.stringify(view)) as JsonObject };
  }

  test('a Deployment with status, artifacts, events and numbers as doubles', async () => {
    await using ns = await createNamespace();
    const annotations = toMoniker('deployment web');
    const web = createWorkload('Deployment', 'web', { annotations, replicas: 1 });
    await createLive(ns.name, 'deployments', web);
    const isStable = async () => (await read(ns.name, 'deployment web')).view.status;
    await expect.poll(isStable).toMatchObject({ stable: { state: true } });
    const { view, text } = await read(ns.name, 'deploy web');
    expect(view).toMatchObject({
      account: 'test',
      name: 'deployment web',
      location: ns.name,
      moniker: { app: 'shop', cluster: 'deployment web' },
      manifest: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', annotations } },
      status: { stable: yes, paused: no, available: yes, failed: no },
      artifacts: [{ ...image, customKind: false, reference: 'registry.test/web:1' }],
      events: [{ reason: 'ScalingReplicaSet', involvedObject: { name: 'web' } }],
      warnings: [],
      metrics: [],
    });
    expect(text).toContain('"readyReplicas":1.0');
    expect(text).toContain('"availableReplicas":1.0');
    expect(text).not.toContain('managedFields');
    expect(text).not.toContain('null');
  });

  test('without events: one call', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    await using recorded = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    await createLive(ns.name, 'configmaps', createConfigMap('flags', {}));
    const request = { ...quiet, location: ns.name, name: 'configMap flags' };
    expect(await readManifest(recorded, request)).toMatchObject({ events: [], metrics: [] });
    expect(proxy.calls).toMatchObject([{ path: `/api/v1/namespaces/${ns.name}/configmaps/flags` }]);
  });

  test('events of a kind with an irregular name, oldest first', async () => {
    await using ns = await createNamespace();
    const autoscaler = createManifest('autoscaling/v2', 'HorizontalPodAutoscaler', {
      name: 'web',
      more: {
        spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
      },
    });
    await createLive(ns.name, 'horizontalpodautoscalers', autoscaler);
    const times = { late: '2030-01-02T00:00:00Z', early: '2030-01-01T00:00:00Z' };
    for (const [name, lastTimestamp] of Object.entries(times)) {
      await createLive(ns.name, 'events', {
        metadata: { name },
        involvedObject: { kind: 'HorizontalPodAutoscaler', name: 'web', namespace: ns.name },
        reason: name,
        lastTimestamp,
      });
    }
    const { view } = await read(ns.name, 'hpa web');
    const planted = (view.events as JsonObject[])
      .map(({ reason }) => reason)
      .filter((reason) => /late|early/.test(String(reason)));
    expect(planted).toEqual(['early', 'late']);
  });

  test('metrics of a pod, where the account wants them', async () => {
    await using ns = await createNamespace();
    const annotations = { 'kubecluster.test/cpu': '2500001n', 'kubecluster.test/memory': '3500Ki' };
    const more = { spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] } };
    await createLive(ns.name, 'pods', createManifest('v1', 'Pod', { name: 'one', annotations, more }));
    const metrics = async () => (await read(ns.name, 'pod one')).view.metrics;
    await expect
      .poll(metrics, { timeout: 30_000 })
      .toEqual([{ containerName: 'main', metrics: { 'CPU(cores)': '3m', 'MEMORY(bytes)': '3Mi' } }]);
    expect((await read(ns.name, 'pod one', { account: 'unmeasured' })).view.metrics).toEqual([]);
    expect((await read(ns.name, 'pod one', { includeEvents: false })).view.metrics).toEqual([]);
  });

  test('a cluster-scoped object', async () => {
    await using ns = await createNamespace();
    const name = `namespace ${ns.name}`;
    expect((await read('', name)).view).toMatchObject({ name, location: '' });
  });

  test('the values of a Secret, for who may read them, and masks for others', async () => {
    await using ns = await createNamespace();
    const planted = 'planted-0815';
    const encoded = Buffer.from(planted).toString('base64');
    const applied = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data: { text: encoded } };
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied),
      'kubernetes.io/change-cause': `kubectl create secret generic keys --from-literal=text=${planted}`,
      'artifact.spinnaker.io/name': 'keys',
    };
    const secret = await createLive(ns.name, 'secrets', createSecret('keys', planted, { annotations }));
    await createLive(ns.name, 'events', {
      metadata: { name: 'e', namespace: ns.name, annotations: { quote: encoded } },
      involvedObject: { kind: 'Secret', name: 'keys', namespace: ns.name },
      reason: 'Synced',
      message: `took ${planted} from the vault`,
    });

    const revealed = await read(ns.name, 'secret keys', { revealSecrets: true });
    expect(revealed.view).toMatchObject({ manifest: { data: { text: encoded }, metadata: { annotations } } });
    expect(revealed.view).toMatchObject({ events: [{ message: `took ${planted} from the vault` }] });

    const masked = JSON.stringify({ ...applied, data: { text: '******' } });
    const { view, text } = await read(ns.name, 'secret keys');
    expect(text).not.toMatch(new RegExp(`${planted}|${encoded}`));
    expect(view).toMatchObject({
      name: 'secret keys',
      location: ns.name,
      status: revealed.view['status'],
      artifacts: revealed.view['artifacts'],
      manifest: {
        type: 'Opaque',
        data: { text: '******' },
        metadata: {
          uid: getPath(secret, 'metadata', 'uid'),
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': masked,
            'kubernetes.io/change-cause': '******',
            'artifact.spinnaker.io/name': 'keys',
          },
        },
      },
      events: [{ reason: 'Synced', message: 'took ****** from the vault' }],
    });
    expect(Object.keys(view['manifest'] as JsonObject).sort()).toEqual(
      Object.keys(revealed.view['manifest'] as JsonObject).sort(),
    );
  });

  test.each(['deployment', 'deployment  web', 'a b c', ''])('%j is no name of an object', async (name) => {
    await expect(read('default', name)).rejects.toBeInstanceOf(NotFoundError);
  });

  test('what is missing is not found', async () => {
    const error = new NotFoundError(
      'Manifest (account: test, location: default, name: deployment web) not found',
    );
    await expect(read('default', 'deployment web')).rejects.toThrow(error);
    await expect(read('default', 'deployment web', { account: 'none' })).rejects.toBeInstanceOf(
      NotFoundError,
    );
  });

  test('a failure tells what was read, and what the API server said', async () => {
    await using proxy = await startApiProxy(cluster, { refuse: () => 403 });
    await using refused = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const request = { ...quiet, location: 'default', name: 'deployment web' };
    const reading = readManifest(refused, request);
    await expect(reading).rejects.toBeInstanceOf(FailedOperationError);
    await expect(reading).rejects.toThrow(
      /^Failed to read manifest: \(account: test, location: default, name: deployment web\): .*refused by the test/,
    );
  });

  test('members of a cluster by their annotations alone', async () => {
    await using ns = await createNamespace();
    const marks = toMoniker('replicaSet web');
    const post = (name: string, parts: ManifestParts & { readonly replicas?: number }) =>
      createLive(ns.name, 'replicasets', createWorkload('ReplicaSet', name, parts));
    await post('web-v000', { annotations: marks, replicas: 2 });
    await post('web-v001', { annotations: marks, replicas: 0 });
    await post('web-v002', { annotations: { ...marks, 'moniker.spinnaker.io/application': 'other' } });
    await post('web-v003', {});
    const cluster = { application: 'shop', cluster: 'replicaSet web' };
    const request = { account: 'test', location: ns.name, kind: 'replicaSet', ...cluster };
    const coordinates = (name: string) => ({ kind: 'replicaSet', namespace: ns.name, name });
    const members = await reader.listClusterManifests({ ...request, kind: 'ReplicaSet' });
    expect(members).toEqual([coordinates('web-v000'), coordinates('web-v001')]);
    expect(await reader.getDynamicManifest(request, 'largest')).toEqual(coordinates('web-v000'));
    expect(await reader.getDynamicManifest(request, 'smallest')).toEqual(coordinates('web-v001'));
    await expect(reader.getDynamicManifest(request, 'tallest')).rejects.toBeInstanceOf(InvalidInputError);
    const none = { ...request, cluster: 'replicaSet other' };
    expect(await reader.listClusterManifests(none)).toEqual([]);
    await expect(reader.getDynamicManifest(none, 'newest')).rejects.toBeInstanceOf(NotFoundError);
    const unserved = reader.listClusterManifests({ ...request, kind: 'Nothing.example.com' });
    await expect(unserved).rejects.toBeInstanceOf(NotFoundError);
    await expect(unserved).rejects.toThrow(
      /^Failed to list Nothing.example.com in .* of account test: no matches for kind/,
    );
  });
});

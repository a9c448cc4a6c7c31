import { expect, test } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { findLive, listNames } from '../../live.ts';
import { openV1, runV1 } from './v1-run.ts';

/** What the document says that V1's server groups come from, sentence by sentence; of accounts it is beside their agents' tests. */
const handler = { type: 'HTTP', httpGetAction: { path: '/health', port: 80, uriScheme: 'HTTP' } };
const containers = [
  {
    ...{
      name: 'web',
      imageDescription: { uri: 'registry.test/web:1' },
      envVars: [{ name: 'A', value: '1' }],
    },
    readinessProbe: { handler, periodSeconds: 5 },
    livenessProbe: { handler, initialDelaySeconds: 30 },
  },
  { name: 'side', imageDescription: { uri: 'registry.test/side:1' }, limits: { memory: '64Mi' } },
];

describeWithCluster('server groups of the V1 provider', (cluster) => {
  /** Makes the server group `kub-v000` of two pods. */
  async function open() {
    const stack = new AsyncDisposableStack();
    const { name: namespace } = stack.use(await createNamespace());
    const fields = { namespaces: [namespace], serverGroupKind: 'ReplicationController' };
    const provider = stack.use(openV1(cluster.kubeconfig, fields));
    const description = {
      application: 'kub',
      namespace,
      targetSize: 2,
      containers,
      loadBalancers: ['front'],
    };
    await runV1(provider, 'createServerGroup', description);
    return { namespace, provider, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  async function listPods(namespace: string): Promise<JsonObject[]> {
    await expect.poll(() => listNames(namespace, 'pods'), { timeout: 60_000 }).toHaveLength(2);
    const names = await listNames(namespace, 'pods');
    return Promise.all(names.map(async (name) => (await findLive(namespace, `pods/${name}`)) ?? {}));
  }

  const readController = (namespace: string, name: string) =>
    findLive(namespace, `replicationcontrollers/${name}`);

  test('are Kubernetes Replication Controllers', async () => {
    await using world = await open();
    expect(await listNames(world.namespace, 'replicationcontrollers')).toEqual(['kub-v000']);
    expect(await listNames(world.namespace, 'replicasets')).toEqual([]);
  });

  test('their Pods can house multiple container images, and all images in a Pod are collocated', async () => {
    await using world = await open();
    for (const pod of await listPods(world.namespace)) {
      const images = asJsonArray(getPath(pod, 'spec', 'containers')).map((each) => getPath(each, 'image'));
      expect(images).toEqual(['registry.test/web:1', 'registry.test/side:1']);
    }
  });

  test('each Pod is in charge of managing its own health checks', async () => {
    await using world = await open();
    const httpGet = { path: '/health', port: 80, scheme: 'HTTP' };
    for (const pod of await listPods(world.namespace)) {
      const [web, side] = asJsonArray(getPath(pod, 'spec', 'containers'));
      expect(web).toMatchObject({
        readinessProbe: { httpGet, periodSeconds: 5 },
        livenessProbe: { httpGet, initialDelaySeconds: 30 },
      });
      expect(side).not.toHaveProperty('readinessProbe');
      expect(side).not.toHaveProperty('livenessProbe');
    }
  });

  test('create: a Replication Controller with the specified containers and their respective configurations', async () => {
    await using world = await open();
    const live = await readController(world.namespace, 'kub-v000');
    expect(getPath(live, 'spec', 'template', 'spec', 'containers')).toMatchObject([
      { name: 'web', image: 'registry.test/web:1', env: [{ name: 'A', value: '1' }] },
      { name: 'side', image: 'registry.test/side:1', resources: { limits: { memory: '64Mi' } } },
    ]);
  });

  test('clone: takes a source Replication Controller, and creates it while overriding any attributes with those of the request', async () => {
    await using world = await open();
    const { namespace, provider } = world;
    const source = { serverGroupName: 'kub-v000', namespace };
    const same = await runV1(provider, 'cloneServerGroup', { source });
    expect(same.result).toMatchObject({ serverGroupNameByRegion: { [namespace]: 'kub-v001' } });
    const read = async (name: string) => {
      const { replicas, template } = getPath(await readController(namespace, name), 'spec') as JsonObject;
      return {
        replicas,
        pods: getPath(template, 'spec'),
        front: getPath(template, 'metadata', 'labels', 'load-balancer-front'),
      };
    };
    expect(await read('kub-v001')).toEqual(await read('kub-v000'));

    const [, side] = containers;
    const changes = {
      targetSize: 0,
      loadBalancers: [],
      containers: [side ?? {}],
      terminationGracePeriodSeconds: 5,
    };
    await runV1(provider, 'cloneServerGroup', { source, stack: 'test', ...changes });
    const changed = await readController(namespace, 'kub-test-v000');
    expect(changed).toMatchObject({
      spec: {
        replicas: 0,
        template: {
          metadata: { labels: { 'replication-controller': 'kub-test-v000' } },
          spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'side' }] },
        },
      },
    });
    expect(getPath(changed, 'spec', 'template', 'metadata', 'labels')).not.toHaveProperty(
      'load-balancer-front',
    );
  });
});

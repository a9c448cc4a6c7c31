import { expect, test } from 'vitest';
import { mapConcurrently } from '#core/concurrency.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, kubectl, requestApi } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { createLive, findLive, getPathOf, listNames } from '../../live.ts';
import { createManifest } from '../../manifests.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';
import { createController } from './specs/worlds.ts';
import { containers, openV1, runV1 } from './v1-run.ts';

describeWithCluster('server groups of a V1 account', (cluster) => {
  test('have one pod for all containers, with probes, and the pull secrets of their namespace', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, {
      namespaces: [ns.name],
      dockerRegistries: [{ accountName: 'hub' }, { accountName: 'b', namespaces: ['elsewhere'] }],
      serverGroupKind: 'ReplicationController',
    });
    const handler = { type: 'HTTP', httpGetAction: { path: '/health', port: 80, uriScheme: 'HTTP' } };
    const [web, side] = containers;
    const probed = [{ ...web, readinessProbe: { handler }, livenessProbe: { handler } }, side ?? {}];
    const description = { application: 'kub', namespace: ns.name, targetSize: 1, containers: probed };
    const { result } = await runV1(provider, 'createServerGroup', description);
    expect(result).toEqual({
      serverGroupNames: [`${ns.name}:kub-v000`],
      serverGroupNameByRegion: { [ns.name]: 'kub-v000' },
    });
    await expect.poll(() => listNames(ns.name, 'pods')).toHaveLength(1);
    const [pod = ''] = await listNames(ns.name, 'pods');
    const live = await findLive(ns.name, `pods/${pod}`);
    const httpGet = { path: '/health', port: 80, scheme: 'HTTP' };
    expect(getPath(live, 'spec')).toMatchObject({
      containers: [
        { name: 'web', readinessProbe: { httpGet }, livenessProbe: { httpGet } },
        { name: 'side' },
      ],
      imagePullSecrets: [{ name: 'hub' }],
    });
  });

  test('of one cluster, deployed at once, get a name each', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const description = { application: 'kub', namespace: ns.name, targetSize: 0, containers };
    const runs = [1, 2, 3].map(() => runV1(provider, 'createServerGroup', description));
    const made = (await Promise.all(runs)).map(({ result }) => getPath(result, 'serverGroupNames'));
    const names = ['kub-v000', 'kub-v001', 'kub-v002'];
    expect(made.flat().toSorted()).toEqual(names.map((name) => `${ns.name}:${name}`));
    expect(await listNames(ns.name, 'replicasets')).toEqual(names);
  });

  test('begin again after the last number', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    for (const sequence of [998, 999]) await makeController(ns.name, sequence);
    const description = { application: 'kub', namespace: ns.name, targetSize: 0, containers };
    const { result, history } = await runV1(provider, 'createServerGroup', description);
    expect(history).toContain('Found ancestor server group, parsing details (name: kub-v999)');
    expect(getPath(result, 'serverGroupNames')).toEqual([`${ns.name}:kub-v000`]);
  });

  // Controllers look at each of them, and keep other tests waiting meanwhile.
  test.runIf(chooseSize({ short: false, long: true }))(
    'are 1,000 in a cluster at most',
    async () => {
      await using ns = await createNamespace();
      await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
      const make = (sequence: number) => makeController(ns.name, sequence);
      await mapConcurrently([...Array(999).keys()], 16, make);
      await make(999);
      const description = { application: 'kub', namespace: ns.name, targetSize: 0, containers };
      const create = () => runV1(provider, 'createServerGroup', description);
      await expect(create()).rejects.toThrow(
        `All server group names for cluster kub in ${ns.name} are taken.`,
      );
      expect(await listNames(ns.name, 'replicasets')).toEqual([]);
      for (const name of ['kub-v000', 'kub-v417'])
        await requestApi('DELETE', getPathOf(ns.name, `replicationcontrollers/${name}`));
      const listControllers = () => listNames(ns.name, 'replicationcontrollers');
      await expect.poll(listControllers, { timeout: 60_000 }).toHaveLength(998);
      const { result, history } = await create();
      expect(history).toContain('Found ancestor server group, parsing details (name: kub-v999)');
      expect(getPath(result, 'serverGroupNames')).toEqual([`${ns.name}:kub-v000`]);
      // Both at once want the only number that is left.
      const [one, other] = await Promise.allSettled([create(), create()]);
      expect(await listNames(ns.name, 'replicasets')).toEqual(['kub-v000', 'kub-v417']);
      expect([one, other].map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    },
    180_000,
  );

  test('are copied from one account to another', async () => {
    await using here = await createNamespace();
    await using there = await createNamespace();
    const common = {
      providerVersion: 'v1',
      kubeconfigFile: cluster.kubeconfig,
      dockerRegistries: [{ accountName: 'hub' }],
    };
    await using provider = openProvider([
      { name: 'old', ...common, namespaces: [here.name] },
      { name: 'far', ...common, namespaces: [there.name] },
    ]);
    await createLive(there.name, 'replicationcontrollers', createController('kub-v004', { replicas: 0 }));
    const clone = (account: string, namespace = there.name) =>
      runV1(provider, 'cloneServerGroup', {
        ...{ namespace: here.name, kind: 'ReplicationController' },
        source: { account, namespace, serverGroupName: 'kub-v004' },
      });
    const { result } = await clone('far');
    expect(getPath(result, 'serverGroupNames')).toEqual([`${here.name}:kub-v000`]);
    const live = await findLive(here.name, 'replicationcontrollers/kub-v000');
    expect(getPath(live, 'spec', 'template', 'spec')).toMatchObject({
      containers: [{ image: 'registry.test/web:1' }],
    });
    const prefix = 'cloneKubernetesAtomicOperationDescription';
    await expect(clone('nobody')).rejects.toThrow(`${prefix}.source.account.notFound`);
    await expect(clone('old')).rejects.toThrow(`${prefix}.source.namespace.notRegistered`);
    await expect(clone('far', here.name)).rejects.toThrow(`${prefix}.source.namespace.notRegistered`);
    const operation = getOperation(provider, 'cloneServerGroup');
    const prepare = (source: JsonObject) =>
      operation.prepare({ account: 'old', source: { serverGroupName: 'kub-v004', ...source } });
    expect(prepare({ account: 'far' })).toMatchObject({ account: 'old', sourceAccount: 'far' });
    expect(prepare({ account: 'old' })).not.toHaveProperty('sourceAccount');
  });

  test('never replace one whose number is asked for', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const description = { application: 'kub', namespace: ns.name, targetSize: 0, containers, sequence: 7 };
    await runV1(provider, 'createServerGroup', description);
    await expect(runV1(provider, 'createServerGroup', description)).rejects.toThrow(
      `Server group kub-v007 exists already in namespace ${ns.name}`,
    );
  });

  test('of a Deployment are its revisions: resized and destroyed through it', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const fields = { application: 'kub', namespace: ns.name, containers, deployment: { enabled: true } };
    const create = () => runV1(provider, 'createServerGroup', { ...fields, targetSize: 1 });
    const readReplicas = async (name: string) =>
      getPath(await findLive(ns.name, `replicasets/${name}`), 'spec', 'replicas');
    expect((await create()).history).toContain('Configured deployment kub');
    await expect.poll(() => readReplicas('kub-v000')).toBe(1);
    expect((await create()).history).toContain('Replica set name chosen to be kub-v001.');
    await expect.poll(() => readReplicas('kub-v001')).toBe(1);
    await expect.poll(() => readReplicas('kub-v000')).toBe(0);
    expect(await listNames(ns.name, 'replicasets')).toEqual(['kub-v000', 'kub-v001']);

    const target = { namespace: ns.name, serverGroupName: 'kub-v001' };
    const resized = await runV1(provider, 'resizeServerGroup', { ...target, capacity: { desired: 2 } });
    expect(resized.history).toContain('Resizing deployment...');
    await expect.poll(() => readReplicas('kub-v001')).toBe(2);

    const before = { ...target, serverGroupName: 'kub-v000' };
    const { history } = await runV1(provider, 'destroyServerGroup', before);
    expect(history).toContain('Checking if deployment kub needs to be destroyed...');
    expect(await listNames(ns.name, 'deployments')).toEqual(['kub']);
    const last = await runV1(provider, 'destroyServerGroup', target);
    expect(last.history).toContain('Successfully destroyed deployment kub...');
    await expect.poll(() => listNames(ns.name, 'replicasets')).toEqual([]);
    expect(await listNames(ns.name, 'deployments')).toEqual([]);
  });

  test('that are gone count as destroyed', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const target = { namespace: ns.name, serverGroupName: 'kub-v000' };
    const { history } = await runV1(provider, 'destroyServerGroup', target);
    expect(history.at(-1)).toBe('Successfully destroyed server group kub-v000.');
  });

  test('are where the kubeconfig says, where the account names no namespace', async () => {
    await using ns = await createNamespace();
    const { stdout } = await kubectlConfig(cluster.kubeconfig, ns.name);
    await using provider = openProvider([
      {
        name: 'old',
        providerVersion: 'v1',
        kubeconfigContents: stdout,
        dockerRegistries: [{ accountName: 'hub' }],
      },
    ]);
    const description = { application: 'kub', namespace: ns.name, targetSize: 0, containers };
    await runV1(provider, 'createServerGroup', description);
    expect(await listNames(ns.name, 'replicasets')).toEqual(['kub-v000']);
    await expect(
      runV1(provider, 'createServerGroup', { ...description, namespace: 'kube-system' }),
    ).rejects.toThrow(
      `Namespace 'kube-system' was not registered with provided credentials. Registered namespaces are [${ns.name}].`,
    );
    await expect(runV1(provider, 'createServerGroup', { ...description, namespace: null })).rejects.toThrow(
      `No provided namespace assumed to mean 'default' was not registered with provided credentials. Registered namespaces are [${ns.name}].`,
    );
  });

  test('are behind their Service by as many pods as the percentage says', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    await createLive(ns.name, 'services', createFront());
    await createLive(ns.name, 'replicationcontrollers', createController('kub-v000', { replicas: 3 }));
    const countAddresses = () => countBackends(ns.name);
    await expect.poll(countAddresses).toBe(3);
    const target = { namespace: ns.name, serverGroupName: 'kub-v000' };
    const rows = [
      ['disableServerGroup', 0, 3],
      ['disableServerGroup', 30, 2],
      ['disableServerGroup', 30, 2],
      ['disableServerGroup', 50, 1],
      ['disableServerGroup', 100, 0],
      ['enableServerGroup', 50, 2],
      ['enableServerGroup', 100, 3],
    ] as const;
    for (const [name, desiredPercentage, addresses] of rows) {
      await runV1(provider, name, { ...target, desiredPercentage });
      await expect.poll(countAddresses, { message: `${name} ${desiredPercentage}` }).toBe(addresses);
    }
  });

  test('of other kinds are never switched', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const target = { namespace: ns.name, serverGroupName: 'kub' };
    await expect(runV1(provider, 'enableServerGroup', target)).rejects.toThrow(
      `Only support operation for replication controller or replica set kub in ${ns.name}.`,
    );
    const template = {
      metadata: { labels: { app: 'kub' } },
      spec: { containers: [{ name: 'web', image: 'registry.test/web:1' }] },
    };
    const selector = { matchLabels: { app: 'kub' } };
    const spec = { replicas: 0, serviceName: 'kub', selector, template };
    const statefulSet = createManifest('apps/v1', 'StatefulSet', { name: 'kub', more: { spec } });
    await createLive(ns.name, 'statefulsets', statefulSet);
    const { history } = await runV1(provider, 'enableServerGroup', target);
    expect(history.at(-1)).toBe(`Skip disable/enable StatefuSet server group kub in ${ns.name}.`);
  });
});

/** The ReplicationController of a number of the cluster `kub`, without pods. */
async function makeController(namespace: string, sequence: number): Promise<void> {
  const controller = createController(`kub-v${String(sequence).padStart(3, '0')}`, { replicas: 0 });
  await createLive(namespace, 'replicationcontrollers', controller);
}

/** The Service that V1 calls the load balancer `front`. */
function createFront(): JsonObject {
  const spec = { selector: { 'load-balancer-front': 'true' }, ports: [{ port: 80 }] };
  return createManifest('v1', 'Service', { name: 'front', more: { spec } });
}

/** How many pods stand behind the Service `front`, as its endpoints tell. */
async function countBackends(namespace: string): Promise<number> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const { items } = (await requestApi('GET', path)) as { items: { endpoints: unknown[] | null }[] };
  return items.flatMap(({ endpoints }) => endpoints ?? []).length;
}

/** A kubeconfig whose context is of that namespace. */
async function kubectlConfig(kubeconfig: string, namespace: string): Promise<{ readonly stdout: string }> {
  const text = await kubectl(['config', 'view', '--raw', '-o', 'json', `--kubeconfig=${kubeconfig}`]);
  const config = JSON.parse(text) as { contexts: { context: JsonObject }[] };
  for (const { context } of config.contexts) context['namespace'] = namespace;
  return { stdout: JSON.stringify(config) };
}

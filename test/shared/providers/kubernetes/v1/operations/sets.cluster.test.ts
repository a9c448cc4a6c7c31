import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf, listNames } from '../../live.ts';
import { createController } from './specs/worlds.ts';
import { containers, openV1, runV1 } from './v1-run.ts';

/** A StatefulSet or DaemonSet may take this long to have its pods. */
const podsTimeoutMs = 120_000;

interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  readonly image: string;
}

describeWithCluster('StatefulSets and DaemonSets of a V1 account', (cluster) => {
  const recreate = { enabled: true, updateStrategy: { type: 'Recreate' } };

  async function listPods(namespace: string): Promise<readonly Pod[]> {
    const { items } = (await requestApi('GET', getPathOf(namespace, 'pods'))) as { items: JsonObject[] };
    return items.map((pod) => ({
      name: String(getPath(pod, 'metadata', 'name')),
      uid: String(getPath(pod, 'metadata', 'uid')),
      phase: String(getPath(pod, 'status', 'phase')),
      image: String(getPath(asJsonArray(getPath(pod, 'spec', 'containers'))[0], 'image')),
    }));
  }

  test('are changed in place, their pods one after the other from the highest', async () => {
    await using ns = await createNamespace();
    /** The pods that ran when another one was deleted, in the order of the deletions. */
    const running: string[][] = [];
    await using proxy = await startApiProxy(cluster, {
      async before({ method, path }) {
        if (method !== 'DELETE' || !path.includes('/pods/')) return;
        const pods = await listPods(ns.name);
        running.push(
          pods.flatMap(({ name, phase, image }) => (phase === 'Running' ? [`${name} ${image}`] : [])),
        );
      },
    });
    await using provider = openV1(proxy.kubeconfig, { namespaces: [ns.name] });
    const deploy = (image: string) =>
      runV1(provider, 'createServerGroup', {
        ...{ application: 'kub', namespace: ns.name, kind: 'StatefulSet', targetSize: 2 },
        ...{ containers: [{ name: 'web', imageDescription: { uri: image } }], updateController: recreate },
        podSpec: { terminationGracePeriodSeconds: 1 },
      });
    await deploy('registry.test/web:1');
    const isRunning = async () =>
      getPath(await findLive(ns.name, 'statefulsets/kub'), 'status', 'readyReplicas');
    await expect.poll(isRunning, { timeout: podsTimeoutMs }).toBe(2);
    const before = await listPods(ns.name);

    const { history, result } = await deploy('registry.test/web:2');
    expect(history).toContain('Update stateful set kub');
    expect(result).toMatchObject({ serverGroupNames: [`${ns.name}:kub`] });
    const after = await listPods(ns.name);
    expect(after.map(({ name, image }) => [name, image])).toEqual([
      ['kub-0', 'registry.test/web:2'],
      ['kub-1', 'registry.test/web:2'],
    ]);
    expect(after.filter(({ uid }) => before.some((pod) => pod.uid === uid))).toEqual([]);
    expect(running).toEqual([
      ['kub-0 registry.test/web:1', 'kub-1 registry.test/web:1'],
      ['kub-0 registry.test/web:1', 'kub-1 registry.test/web:2'],
    ]);
  }, 300_000);

  test('wait for a pod that does not come back, and leave the others', async () => {
    await using ns = await createNamespace();
    const kinds = { namespaces: [ns.name] };
    const deploy = (provider: Provider, fields: JsonObject) =>
      runV1(provider, 'createServerGroup', {
        ...{ application: 'kub', namespace: ns.name, kind: 'StatefulSet', targetSize: 2, containers },
        ...{ updateController: recreate, ...fields },
      });
    await using provider = openV1(cluster.kubeconfig, kinds);
    await deploy(provider, {});
    const listPhases = async () => (await listPods(ns.name)).map(({ name, phase }) => `${name} ${phase}`);
    const both = ['kub-0 Running', 'kub-1 Running'];
    await expect.poll(listPhases, { timeout: podsTimeoutMs }).toEqual(both);

    // Ten hours pass as soon as the next pod waits for a node.
    let passedMs = 0;
    const clock = {
      now: () => Date.now() + passedMs,
      async sleep(ms: number) {
        await setTimeout(ms);
        if ((await listPhases()).includes('kub-1 Pending')) passedMs = 36_000_000;
      },
    };
    await using patient = openV1(cluster.kubeconfig, kinds, clock);
    await expect(deploy(patient, { nodeSelector: { disk: 'none' } })).rejects.toThrow(
      `Failed to launch a new pod(kub-1) for ServerGroup kub in ${ns.name}.`,
    );
    expect(await listPhases()).toEqual(['kub-0 Running', 'kub-1 Pending']);
  }, 300_000);

  test('on each node have their pods replaced, whatever those are called', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const deploy = (image: string) =>
      runV1(provider, 'createServerGroup', {
        ...{ application: 'kub', namespace: ns.name, kind: 'DaemonSet', updateController: recreate },
        ...{
          containers: [{ name: 'web', imageDescription: { uri: image } }],
          terminationGracePeriodSeconds: 1,
        },
      });
    await deploy('registry.test/web:1');
    await expect
      .poll(async () => (await listPods(ns.name)).length, { timeout: podsTimeoutMs })
      .toBeGreaterThan(0);
    await deploy('registry.test/web:2');
    const images = async () => (await listPods(ns.name)).map(({ image }) => image);
    await expect.poll(images, { timeout: podsTimeoutMs }).toContain('registry.test/web:2');
    expect(await images()).not.toContain('registry.test/web:1');
  }, 300_000);

  test('are never replaced where nobody says so', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    const description = {
      application: 'kub',
      namespace: ns.name,
      kind: 'StatefulSet',
      targetSize: 0,
      containers,
    };
    await runV1(provider, 'createServerGroup', description);
    await expect(runV1(provider, 'createServerGroup', description)).rejects.toThrow(
      `Server group kub exists already in namespace ${ns.name}`,
    );
    await runV1(provider, 'createServerGroup', { ...description, sequence: 3 });
    expect(await listNames(ns.name, 'statefulsets')).toEqual(['kub', 'kub-v003']);
  });

  test('are made of a ReplicationController, and cannot be copied themselves', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    await createLive(ns.name, 'replicationcontrollers', createController('kub-v000', { replicas: 0 }));
    const clone = (serverGroupName: string) =>
      runV1(provider, 'cloneServerGroup', {
        ...{ kind: 'StatefulSet', freeFormDetails: 'set' },
        source: { serverGroupName, namespace: ns.name },
      });
    const { result } = await clone('kub-v000');
    expect(result).toMatchObject({ serverGroupNames: [`${ns.name}:kub--set`] });
    const live = await findLive(ns.name, 'statefulsets/kub--set');
    expect(getPath(live, 'spec')).toMatchObject({
      replicas: 0,
      template: {
        metadata: { labels: { cluster: 'kub--set', 'load-balancer-front': 'true' } },
        spec: { containers: [{ name: 'web', image: 'registry.test/web:1' }] },
      },
    });
    await expect(clone('kub--set')).rejects.toThrow('Source server group kub--set does not exist.');
  });

  test('cannot be resized or switched where they are on each node, and go without a word of what they are', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
    await runV1(provider, 'createServerGroup', {
      ...{ application: 'kub', namespace: ns.name, kind: 'DaemonSet', nodeSelector: { disk: 'none' } },
      containers,
    });
    const target = { namespace: ns.name, serverGroupName: 'kub' };
    const disabled = await runV1(provider, 'disableServerGroup', { ...target, kind: 'DaemonSet' });
    expect(disabled.history.at(-1)).toBe(`Skip disable/enable StatefuSet server group kub in ${ns.name}.`);
    const resize = () => runV1(provider, 'resizeServerGroup', { ...target, capacity: { desired: 1 } });
    await expect(resize()).rejects.toThrow('Does not support resizing DaemoneSet.');
    const { history } = await runV1(provider, 'destroyServerGroup', target);
    expect(history).toContain("Underlying kind is 'DaemonSet'...");
    expect(await listNames(ns.name, 'daemonsets')).toEqual([]);
  });
});

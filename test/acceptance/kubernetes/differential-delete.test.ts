import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { changeObject } from '#providers/kubernetes/manifest/edit.ts';
import { getPathOf } from '#test/shared/providers/kubernetes/live.ts';
import { createJob, createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { runOperation } from '#test/shared/providers/kubernetes/operations/task-run.ts';
import { getOperation, openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { createNamespace, describeWithCluster, kubectl, requestApi } from '#test/support/cluster/cluster.ts';

/** What is deleted: it has pods, directly or by way of a ReplicaSet. */
const owners = [
  {
    kind: 'deployment',
    plural: 'deployments',
    manifest: createWorkload('Deployment', 'web', { replicas: 2 }),
  },
  {
    kind: 'replicaSet',
    plural: 'replicasets',
    manifest: createWorkload('ReplicaSet', 'web', { replicas: 2 }),
  },
  {
    kind: 'statefulSet',
    plural: 'statefulsets',
    manifest: createWorkload('StatefulSet', 'web', { replicas: 1 }),
  },
  { kind: 'daemonSet', plural: 'daemonsets', manifest: createWorkload('DaemonSet', 'web') },
  { kind: 'job', plural: 'jobs', manifest: createJob({ name: 'web' }) },
] as const;

const cascades = [
  { cascade: 'background', options: { cascading: 'background' } },
  { cascade: 'background', options: { cascading: 'true' } },
  { cascade: 'foreground', options: { cascading: 'foreground' } },
  { cascade: 'orphan', options: { cascading: 'false' } },
  { cascade: 'orphan', options: { orphanDependents: 'true' } },
] as const;

const cases = owners.flatMap((owner) => cascades.map((each) => ({ ...owner, ...each })));

describeWithCluster('a delete leaves what kubectl delete leaves', ({ kubeconfig }) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  test.concurrent.for(cases)(
    '$kind, $options',
    async ({ kind, plural, manifest, cascade, options }, context) => {
      await using byKubectl = await createNamespace('by-kubectl');
      await using byBusdriver = await createNamespace('by-busdriver');
      const names = [byKubectl.name, byBusdriver.name];
      await Promise.all(names.map((name) => createWithPods(name, plural, manifest)));
      const location = byBusdriver.name;
      const description = { account: 'test', manifestName: `${kind} web`, location, options };
      const command = ['--namespace', byKubectl.name, 'delete', `${kind}/web`, `--cascade=${cascade}`];
      const [expected, actual] = await Promise.all([
        kubectl(command).then(() => listLeft(byKubectl.name)),
        runOperation(getOperation(provider, 'deleteManifest'), description).then(() => listLeft(location)),
      ]);

      if (cascade === 'background') {
        // The pods end later, in their own time.
        const read = () => Promise.all(names.map(listLeft));
        await context.expect.poll(read, { timeout: 30_000 }).toEqual([[], []]);
        return;
      }
      // Whoever deletes in the foreground waits for the pods, too.
      context.expect(actual).toEqual(expected);
      context.expect(expected.length === 0).toBe(cascade === 'foreground');
    },
  );
});

async function createWithPods(namespace: string, plural: string, manifest: Manifest): Promise<void> {
  await requestApi('POST', getPathOf(namespace, plural), withPodAnnotations(manifest));
  const isSettled = async () => {
    const live = (await requestApi('GET', `${getPathOf(namespace, plural)}/web`)) as JsonObject;
    // A Job counts pods as active that the garbage collector may not have seen: it would not orphan them.
    const { readyReplicas, numberReady, ready: readyOfJob } = live['status'] as { [count: string]: number };
    const wanted = getPath(manifest, 'spec', 'replicas') ?? (plural === 'jobs' ? 1 : undefined);
    const ready = readyReplicas ?? numberReady ?? readyOfJob;
    return wanted === undefined ? (ready ?? 0) > 0 : ready === wanted;
  };
  while (!(await isSettled())) await sleep(20);
}

/** What is in a namespace, by kind and by the kinds of its owners: names are made up. */
async function listLeft(namespace: string): Promise<readonly string[]> {
  const kinds = [...owners.map(({ plural }) => plural), 'pods'];
  const lists = await Promise.all(
    kinds.map(async (plural) => {
      const objects = await list(namespace, plural);
      return objects.map((object) => {
        const owned = (getPath(object, 'metadata', 'ownerReferences') ?? []) as { kind: string }[];
        return `${plural} of ${owned.map(({ kind }) => kind).join() || 'nobody'}`;
      });
    }),
  );
  return lists.flat().sort();
}

async function list(namespace: string, plural: string): Promise<readonly JsonObject[]> {
  const { items } = (await requestApi('GET', getPathOf(namespace, plural))) as { items: JsonObject[] };
  return items;
}

/** The manifest with pods that take a while to end, and do not end by themselves. */
function withPodAnnotations(manifest: Manifest): Manifest {
  const annotations = { 'kubecluster.test/outcome': 'run', 'kubecluster.test/termination-delay': '500ms' };
  return changeObject(manifest, ['spec', 'template', 'metadata'], (metadata) => ({
    ...metadata,
    annotations,
  }));
}

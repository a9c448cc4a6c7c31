import { afterAll, expect, test } from 'vitest';
import { getPath } from '#core/json.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { getPathOf } from '../live.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, runOperation } from './task-run.ts';
import { type LiveWorkload, makeWorkload, type WorkloadKind } from './workloads.ts';

const kinds = ['deployment', 'statefulSet', 'daemonSet'] as const;
const [first, second, third] = ['registry.test/web:1', 'registry.test/web:2', 'registry.test/web:3'] as const;

describeWithCluster('undoRolloutManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'undoRolloutManifest');

  test.each(kinds)('gives a %s the template of an earlier revision, in three calls', async (kind) => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    await using counted = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const workload = await makeRevisions(ns.name, kind);
    const record = emptyRecord();
    const description = { ...workload.description, revision: '1' };
    const result = await runOperation(getOperation(counted, 'undoRolloutManifest'), description, { record });
    expect(result).toEqual({});
    expect(await workload.readImage()).toBe(first);
    expect(listHistory(record)).toEqual([
      `Undoing the rollout of ${workload.what}`,
      'Going back to revision 1',
      `Undid the rollout of ${workload.what}`,
    ]);
    expect(proxy.calls.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH']);
  });

  test.each(kinds)(
    'a repeat for a %s changes nothing, whatever its revisions are called by then',
    async (kind) => {
      await using ns = await createNamespace();
      const workload = await makeRevisions(ns.name, kind);
      const description = { ...workload.description, numRevisionsBack: 1 };
      const record = emptyRecord();
      const crash = runOperation(operation, description, { record, crashAtCommit: 2 });
      await expect(crash).rejects.toBeInstanceOf(CrashError);
      expect(await workload.readImage()).toBe(second);
      const generation = getPath(await workload.read(), 'metadata', 'generation');
      await expect
        .poll(async () => getPath(await workload.read(), 'status', 'observedGeneration'), { timeout: 20_000 })
        .toBe(generation);
      await runOperation(operation, description, { record });
      expect(await workload.readImage()).toBe(second);
      expect(getPath(await workload.read(), 'metadata', 'generation')).toBe(generation);
      expect(listHistory(record)).toEqual([
        `Undoing the rollout of ${workload.what}`,
        'Going back to revision 2',
        `${workload.what} is as in revision 2 already`,
      ]);
    },
  );

  test('a worker that died before it acted: the next one does what was decided', async () => {
    await using ns = await createNamespace();
    const workload = await makeRevisions(ns.name, 'deployment');
    const worker = new AbortController();
    await using proxy = await startApiProxy(cluster, {
      refuse({ method }) {
        if (method !== 'PATCH' || worker.signal.aborted) return undefined;
        worker.abort(new CrashError());
        return 503;
      },
    });
    await using dying = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const own = getOperation(dying, 'undoRolloutManifest');
    const description = { ...workload.description, numRevisionsBack: 1 };
    const record = emptyRecord();
    await expect(runOperation(own, description, { record, signal: worker.signal })).rejects.toBeInstanceOf(
      CrashError,
    );
    await workload.changeImage('registry.test/web:4');
    await runOperation(own, description, { record });
    expect(await workload.readImage()).toBe(second);
  });

  test('keeps what somebody else changes at the same moment', async () => {
    await using ns = await createNamespace();
    const workload = await makeRevisions(ns.name, 'deployment');
    let isChanged = false;
    await using proxy = await startApiProxy(cluster, {
      async before({ method }) {
        if (method !== 'PATCH' || isChanged) return;
        isChanged = true;
        const body = { metadata: { annotations: { 'deployment.kubernetes.io/revision-history': '7' } } };
        await requestApi('PATCH', getPathOf(ns.name, 'deployments/web'), body);
      },
    });
    await using watched = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const description = { ...workload.description, revision: 1 };
    await runOperation(getOperation(watched, 'undoRolloutManifest'), description);
    expect(await workload.readImage()).toBe(first);
    expect(getPath(await workload.read(), 'metadata', 'annotations')).toMatchObject({
      'deployment.kubernetes.io/revision-history': '7',
    });
    expect(proxy.calls.filter(({ method }) => method === 'PATCH').map(({ status }) => status)).toEqual([
      409, 200,
    ]);
  });

  test('refuses a paused Deployment', async () => {
    await using ns = await createNamespace();
    const workload = await makeRevisions(ns.name, 'deployment');
    await workload.change({ spec: { paused: true } });
    await expect(runOperation(operation, { ...workload.description, revision: 1 })).rejects.toThrow(
      `Undoing the rollout of ${workload.what} failed: it is paused: resume its rollout first`,
    );
    expect(await workload.readImage()).toBe(third);
  });

  test.each([
    [{ revision: 7 }, 'there is no revision 7; there are: 1, 2, 3'],
    [{ numRevisionsBack: 3 }, 'there is no revision 3 back: the history holds 3 (1, 2, 3)'],
  ])('says what the history lacks for %j', async (choice, problem) => {
    await using ns = await createNamespace();
    const workload = await makeRevisions(ns.name, 'daemonSet');
    await expect(runOperation(operation, { ...workload.description, ...choice })).rejects.toThrow(
      `Undoing the rollout of ${workload.what} failed: ${problem}`,
    );
  });

  async function makeRevisions(namespace: string, kind: WorkloadKind): Promise<LiveWorkload> {
    const workload = await makeWorkload(namespace, kind);
    await workload.changeImage(second);
    await workload.changeImage(third);
    return workload;
  }
});

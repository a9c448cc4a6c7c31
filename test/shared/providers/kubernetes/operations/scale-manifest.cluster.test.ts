import { afterAll, expect, test } from 'vitest';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { createLive, findLive } from '../live.ts';
import { createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, runOperation } from './task-run.ts';

describeWithCluster('scaleManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'scaleManifest');

  test.each([
    { kind: 'Deployment', manifestName: 'deployment web', path: 'deployments/web', replicas: 2 },
    { kind: 'ReplicaSet', manifestName: 'rs web', path: 'replicasets/web', replicas: '3' },
    { kind: 'StatefulSet', manifestName: 'statefulSet web', path: 'statefulsets/web', replicas: null },
  ] as const)('sets the replicas of a $kind', async ({ kind, manifestName, path, replicas }) => {
    await using ns = await createNamespace();
    await createLive(ns.name, path.split('/')[0] ?? '', createWorkload(kind, 'web', { replicas: 1 }));
    const record = emptyRecord();
    const description = { account: 'test', manifestName, location: ns.name, replicas };
    expect(await runOperation(operation, description, { record })).toEqual({});
    const wanted = Number(replicas ?? 0);
    expect(await findLive(ns.name, path)).toHaveProperty('spec.replicas', wanted);
    const what = `${manifestName.replace('rs', 'replicaSet')} in namespace ${ns.name}`;
    expect(listHistory(record)).toEqual([`Scaling ${what} to ${wanted} replicas`, `Scaled ${what}`]);
    expect(record.commits).toBe(1);
  });

  test('says what is missing', async () => {
    await using ns = await createNamespace();
    const description = { account: 'test', manifestName: 'deployment web', location: ns.name, replicas: 1 };
    await expect(runOperation(operation, description)).rejects.toThrow(
      `Scaling deployment web in namespace ${ns.name} failed: deployments.apps "web" not found`,
    );
  });
});

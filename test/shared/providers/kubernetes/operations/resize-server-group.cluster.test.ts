import { expect, test } from 'vitest';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, runOperation } from './task-run.ts';
import { makeWorkload } from './workloads.ts';

describeWithCluster('resizeServerGroup', (cluster) => {
  test.each(['deployment', 'replicaSet', 'statefulSet'] as const)(
    'sets the replicas of a %s, in one call',
    async (kind) => {
      await using ns = await createNamespace();
      await using proxy = await startApiProxy(cluster);
      await using provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
      const workload = await makeWorkload(ns.name, kind);
      const record = emptyRecord();
      const capacity = { min: 0, max: 9, desired: '2' };
      const description = { credentials: 'test', serverGroupName: `${kind} web`, region: ns.name, capacity };
      const operation = getOperation(provider, 'resizeServerGroup');
      expect(await runOperation(operation, description, { record })).toEqual({});
      expect(await workload.read()).toHaveProperty('spec.replicas', 2);
      expect(listHistory(record)).toEqual([`Resizing ${workload.what} to 2 replicas`]);
      expect(proxy.calls.map(({ method }) => method)).toEqual(['PATCH']);
    },
  );

  test('a DaemonSet has no size', async () => {
    await using ns = await createNamespace();
    await using provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
    const workload = await makeWorkload(ns.name, 'daemonSet');
    const description = {
      account: 'test',
      serverGroupName: 'ds web',
      region: ns.name,
      capacity: { desired: 2 },
    };
    await expect(runOperation(getOperation(provider, 'resizeServerGroup'), description)).rejects.toThrow(
      `Resizing ${workload.what} failed: a daemonSet has no number of replicas to set`,
    );
  });
});

import { expect, test } from 'vitest';
import { getPath } from '#core/json.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, runOperation } from './task-run.ts';
import { type LiveWorkload, makeWorkload } from './workloads.ts';

const noonMs = Date.UTC(2030, 0, 1, 12, 0, 0, 789);

describeWithCluster('rollingRestartManifest', (cluster) => {
  test.each(['deployment', 'statefulSet', 'daemonSet'] as const)(
    'notes the time in the pod template of a %s, in two calls',
    async (kind) => {
      await using ns = await createNamespace();
      await using proxy = await startApiProxy(cluster);
      await using provider = open(proxy.kubeconfig);
      const workload = await makeWorkload(ns.name, kind);
      const record = emptyRecord();
      const result = await runOperation(getRestart(provider), workload.description, { record });
      expect(result).toEqual({});
      expect(await readRestart(workload)).toBe('2030-01-01T12:00:00Z');
      expect(listHistory(record)).toEqual([`Restarting ${workload.what}`, `Restarted ${workload.what}`]);
      expect(proxy.calls.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    },
  );

  test('refuses a paused Deployment, and a second restart within a second', async () => {
    await using ns = await createNamespace();
    await using provider = open(cluster.kubeconfig);
    const workload = await makeWorkload(ns.name, 'deployment');
    await runOperation(getRestart(provider), workload.description);
    await expect(runOperation(getRestart(provider), workload.description)).rejects.toThrow(
      `Restarting ${workload.what} failed: it was restarted within the same second`,
    );
    await workload.change({ spec: { paused: true } });
    await expect(runOperation(getRestart(provider), workload.description)).rejects.toThrow(
      `Restarting ${workload.what} failed: it is paused: resume its rollout first`,
    );
  });

  function open(kubeconfigFile: string, now = () => noonMs) {
    return openProvider([{ name: 'test', kubeconfigFile }], { clock: { now } });
  }

  function getRestart(provider: ReturnType<typeof openProvider>) {
    return getOperation(provider, 'rollingRestartManifest');
  }

  async function readRestart(workload: LiveWorkload): Promise<unknown> {
    const path = ['spec', 'template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt'];
    return getPath(await workload.read(), ...path);
  }
});

import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { getPathOf } from '../live.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, runOperation } from './task-run.ts';
import { makeWorkload } from './workloads.ts';

describeWithCluster('pausing and resuming a rollout', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  const directions = [
    { name: 'pauseRolloutManifest', from: false, doing: 'Pausing', problem: 'already paused' },
    { name: 'resumeRolloutManifest', from: true, doing: 'Resuming', problem: 'not paused' },
  ];

  describe.each(directions)('$name', ({ name, from, doing, problem }) => {
    const operation = getOperation(provider, name);

    test('fails like kubectl when there is nothing to do', async () => {
      await using ns = await createNamespace();
      const workload = await makeWorkload(ns.name, 'deployment', { paused: !from });
      await expect(runOperation(operation, workload.description)).rejects.toThrow(
        `${doing} the rollout of ${workload.what} failed: it is ${problem}`,
      );
    });

    test('a repeat leaves a newcomer of the same name alone', async () => {
      await using ns = await createNamespace();
      const workload = await makeWorkload(ns.name, 'deployment', { paused: from });
      const record = emptyRecord();
      const crash = runOperation(operation, workload.description, { record, crashAtCommit: 2 });
      await expect(crash).rejects.toBeInstanceOf(CrashError);
      await requestApi('DELETE', getPathOf(ns.name, 'deployments/web'));
      const newcomer = await makeWorkload(ns.name, 'deployment', { paused: from });
      await expect(runOperation(operation, workload.description, { record })).rejects.toThrow(
        'failed: it was replaced by another of its name',
      );
      expect((await readPaused(newcomer)) ?? false).toBe(from);
    });

    test.each(['statefulSet', 'daemonSet'] as const)('is impossible for a %s', async (kind) => {
      await using ns = await createNamespace();
      const workload = await makeWorkload(ns.name, kind);
      await expect(runOperation(operation, workload.description)).rejects.toThrow(
        `${doing.toLowerCase()} a ${kind} is not supported: only a deployment can be paused`,
      );
    });

    test('says what is missing', async () => {
      await using ns = await createNamespace();
      const description = { account: 'test', manifestName: 'deployment web', location: ns.name };
      await expect(runOperation(operation, description)).rejects.toThrow(
        `failed: deployment web in namespace ${ns.name} was not found`,
      );
    });
  });

  async function readPaused(workload: { read(): Promise<JsonObject> }): Promise<unknown> {
    return ((await workload.read()).spec as JsonObject)['paused'];
  }
});

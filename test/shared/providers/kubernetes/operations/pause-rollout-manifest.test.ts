import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { startApiProxy } from '../../../../support/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../../../support/cluster.ts';
import { getPathOf } from '../live.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, runOperation } from './task-run.ts';
import { makeWorkload } from './workloads.ts';

describeWithCluster('pausing and resuming a rollout', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  const directions = [
    {
      name: 'pauseRolloutManifest',
      from: false,
      to: true,
      doing: 'Pausing',
      done: 'Paused',
      problem: 'already paused',
    },
    {
      name: 'resumeRolloutManifest',
      from: true,
      to: undefined,
      doing: 'Resuming',
      done: 'Resumed',
      problem: 'not paused',
    },
  ];

  describe.each(directions)('$name', ({ name, from, to, doing, done, problem }) => {
    const operation = getOperation(provider, name);

    test('changes a Deployment in two calls, and tells it', async () => {
      await using ns = await createNamespace();
      await using proxy = await startApiProxy(cluster);
      await using counted = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
      const workload = await makeWorkload(ns.name, 'deployment', { paused: from });
      const record = emptyRecord();
      const result = await runOperation(getOperation(counted, name), workload.description, { record });
      expect(result).toEqual({});
      expect(await readPaused(workload)).toBe(to);
      expect(listHistory(record)).toEqual([
        `${doing} the rollout of ${workload.what}`,
        `${done} the rollout of ${workload.what}`,
      ]);
      expect(proxy.calls.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    });

    test('fails like kubectl when there is nothing to do', async () => {
      await using ns = await createNamespace();
      const workload = await makeWorkload(ns.name, 'deployment', { paused: !from });
      await expect(runOperation(operation, workload.description)).rejects.toThrow(
        `${doing} the rollout of ${workload.what} failed: it is ${problem}`,
      );
    });

    test('a repeat does not take its own doing for that of others', async () => {
      await using ns = await createNamespace();
      const workload = await makeWorkload(ns.name, 'deployment', { paused: from });
      const record = emptyRecord();
      const crash = runOperation(operation, workload.description, { record, crashAtCommit: 2 });
      await expect(crash).rejects.toBeInstanceOf(CrashError);
      expect(await readPaused(workload)).toBe(to);
      const { metadata } = await workload.read();
      await runOperation(operation, workload.description, { record });
      expect((await workload.read()).metadata).toMatchObject({
        generation: (metadata as JsonObject).generation,
      });
      expect(listHistory(record)).toEqual([
        `${doing} the rollout of ${workload.what}`,
        `${done} the rollout of ${workload.what}`,
      ]);
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

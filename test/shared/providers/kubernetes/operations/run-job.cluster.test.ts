import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { findLive } from '../live.ts';
import { createJob } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, runOperation } from './task-run.ts';

/** A Job that no description can leave out. */
const smoke = createJob({ name: 'smoke' });

describeWithCluster('runJob', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'runJob');

  function describeJob(namespace: string, more: JsonObject = {}): JsonObject {
    return { account: 'test', application: 'shop', namespace, manifest: smoke, ...more };
  }

  test('runs a Job, and a second time in place of the first', async () => {
    await using ns = await createNamespace();
    const record = emptyRecord();
    const result = await runOperation(operation, describeJob(ns.name), { record });
    expect(result).toMatchObject({
      manifestNamesByNamespace: { [ns.name]: ['job smoke'] },
      deployedNamesByLocation: { [ns.name]: ['job smoke'] },
      createdArtifacts: [{ type: 'kubernetes/job', name: 'smoke', reference: 'smoke' }],
    });
    const job = await findLive(ns.name, 'jobs/smoke');
    expect(job).toMatchObject({
      metadata: {
        annotations: {
          'moniker.spinnaker.io/application': 'shop',
          'moniker.spinnaker.io/cluster': 'job smoke',
          'strategy.spinnaker.io/recreate': 'true',
        },
      },
    });
    const [first] = record.journal.flatMap(({ lines }) => lines);
    expect(first).toEqual({ phase: 'RUN_KUBERNETES_JOB', status: 'Running job smoke of application shop' });
    expect(record.journal.flatMap(({ lines }) => lines).at(-1)?.phase).toBe('DEPLOY_KUBERNETES_MANIFEST');
    await runOperation(operation, describeJob(ns.name));
    const again = await findLive(ns.name, 'jobs/smoke');
    expect(again).not.toHaveProperty('metadata.uid', (job?.metadata as JsonObject | undefined)?.uid);
  });

  test('in the namespace of its manifest, any other strategy put aside', async () => {
    await using ns = await createNamespace();
    const annotations = { 'strategy.spinnaker.io/replace': 'true' };
    const manifest = createJob({ name: 'smoke', namespace: ns.name, annotations });
    await runOperation(operation, describeJob('', { manifest }));
    const live = await findLive(ns.name, 'jobs/smoke');
    expect(live).toHaveProperty(['metadata', 'annotations', 'strategy.spinnaker.io/recreate'], 'true');
    expect(live).not.toHaveProperty(['metadata', 'annotations', 'strategy.spinnaker.io/replace']);
  });

  test.each(['requiredArtifacts', 'optionalArtifacts'])(
    'with an image that one of the %s names',
    async (field) => {
      await using ns = await createNamespace();
      const artifact = {
        type: 'docker/image',
        name: 'registry.test/job',
        reference: 'registry.test/job@sha256:1',
      };
      const result = await runOperation(operation, describeJob(ns.name, { [field]: [artifact] }));
      expect(result.boundArtifacts).toMatchObject([artifact]);
      const live = JSON.stringify(await findLive(ns.name, 'jobs/smoke'));
      expect(live).toContain('registry.test/job@sha256:1');
    },
  );
});

import { afterAll, expect, test } from 'vitest';
import { InvalidInputError } from '../../../../../shared/core/errors.ts';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { createNamespace, describeWithCluster } from '../../../../support/cluster.ts';
import { findLive, listNames } from '../live.ts';
import { createConfigMap, createJob } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, runOperation } from './task-run.ts';

/** A Job that no description can leave out. */
const smoke = createJob({ name: 'smoke' });

describeWithCluster('runJob', (cluster) => {
  const kubeconfigFile = cluster.kubeconfig;
  const provider = openProvider([
    { name: 'test', kubeconfigFile },
    { name: 'narrow', kubeconfigFile, namespaces: ['mine'] },
  ]);
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
    expect(first).toEqual({
      phase: 'RUN_KUBERNETES_JOB',
      status: 'Running job smoke of application shop',
    });
    expect(record.journal.flatMap(({ lines }) => lines).at(-1)?.phase).toBe('DEPLOY_KUBERNETES_MANIFEST');
    await runOperation(operation, describeJob(ns.name));
    const again = await findLive(ns.name, 'jobs/smoke');
    expect(again).not.toHaveProperty('metadata.uid', (job?.metadata as JsonObject | undefined)?.uid);
  });

  test('makes up a name once, however often it is run again', async () => {
    await using ns = await createNamespace();
    const manifest = createJob({ generateName: 'smoke-' });
    const record = emptyRecord();
    const description = describeJob(ns.name, { manifest });
    const crash = runOperation(operation, description, { record, crashAtCommit: 2 });
    await expect(crash).rejects.toThrow(CrashError);
    const result = await runOperation(operation, description, { record });
    const [name = ''] = await listNames(ns.name, 'jobs');
    expect(await listNames(ns.name, 'jobs')).toHaveLength(1);
    expect(result).toMatchObject({ deployedNamesByLocation: { [ns.name]: [`job ${name}`] } });
    expect(listHistory(record).filter((line) => line.startsWith('Running'))).toHaveLength(1);
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

  test.each([
    { more: { manifest: null }, error: 'runKubernetesJob.runKubernetesJob.manifest.empty' },
    { more: { application: null }, error: 'runKubernetesJob.runKubernetesJob.application.empty' },
    {
      more: { manifest: createConfigMap('flags', {}) },
      error: 'runJob: manifest: expected a Job, got configMap flags',
    },
    {
      more: { manifest: { apiVersion: 'v1', kind: 'List', items: [smoke, smoke] } },
      error: 'runJob: manifest: expected one Job, got 2',
    },
    { more: { account: 'narrow' }, error: 'runKubernetesJob.runKubernetesJob.default.wrongNamespace' },
  ])('refuses $error', ({ more, error }) => {
    const prepare = () => operation.prepare(describeJob('default', more));
    expect(prepare).toThrow(InvalidInputError);
    expect(prepare).toThrow(error);
  });
});

import { afterAll, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { createLive, findLive, listNames } from '../live.ts';
import { createConfigMap, createJob, createManifest, createService, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { type OperationResult, runOperation } from './task-run.ts';

describeWithCluster('the traffic of deployManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  function deploy(manifests: readonly Manifest[], more: JsonObject = {}): Promise<OperationResult> {
    const description = { account: 'test', moniker: { app: 'shop' }, manifests: [...manifests], ...more };
    return runOperation(getOperation(provider, 'deployManifest'), description);
  }

  test('goes by the annotation where the request names no services, on pods themselves as well', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'services', createService('web', { serves: 'web' }));
    const annotations = { 'traffic.spinnaker.io/load-balancers': '["service web"]' };
    const parts = { namespace: ns.name, annotations };
    const containers = [{ name: 'main', image: 'registry.test/web:1' }];
    const spec = { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: createJob({}).spec ?? {} } };
    const manifests = [
      createManifest('v1', 'Pod', { name: 'bare', ...parts, more: { spec: { containers } } }),
      createManifest('batch/v1', 'CronJob', { name: 'sweep', ...parts, more: { spec } }),
      createWorkload('StatefulSet', 'web', { ...parts, replicas: 0 }),
      createConfigMap('flags', {}, parts),
    ];
    await deploy(manifests, { versioned: false });
    const labels = ['metadata', 'labels'];
    const read = (resource: string) => findLive(ns.name, resource);
    expect(getPath(await read('pods/bare'), ...labels)).toHaveProperty('serves', 'web');
    expect(getPath(await read('cronjobs/sweep'), ...labels)).toHaveProperty('serves', 'web');
    const set = await read('statefulsets/web');
    expect(getPath(set, 'spec', 'template', ...labels)).toHaveProperty('serves', 'web');
    expect(getPath(set, ...labels)).not.toHaveProperty('serves');
    expect(getPath(await read('configmaps/flags'), ...labels)).not.toHaveProperty('serves');
  });

  test.each([
    { what: 'other services than its annotation', services: ['service web'], message: 'is annotated with' },
    { what: 'a name that is none', services: ['web'], message: "'web' is not an object's name" },
    {
      what: 'two services with one label',
      services: ['service one', 'service two'],
      message: 'has the labels tier already',
    },
  ])('to $what is refused, and nothing is submitted', async ({ what, services, message }) => {
    await using ns = await createNamespace();
    const annotations = { 'traffic.spinnaker.io/load-balancers': '["service other"]' };
    const isAnnotated = what.includes('annotation');
    const manifests = [
      createConfigMap('flags', {}, { namespace: ns.name }),
      createService('one', { tier: 'one' }, { namespace: ns.name }),
      createService('two', { tier: 'two' }, { namespace: ns.name }),
      createWorkload('ReplicaSet', 'web', { namespace: ns.name, ...(isAnnotated && { annotations }) }),
    ];
    await expect(deploy(manifests, { services })).rejects.toThrow(message);
    expect(await listNames(ns.name, 'configmaps')).toEqual([]);
  });
});

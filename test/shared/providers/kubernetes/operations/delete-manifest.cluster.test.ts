import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf, listNames } from '../live.ts';
import { createConfigMap, createManifest, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, type OperationResult, runOperation } from './task-run.ts';

describeWithCluster('deleteManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'deleteManifest');

  function remove(description: JsonObject): Promise<OperationResult> {
    return runOperation(operation, { account: 'test', ...description });
  }

  const removeWeb = (location: string, options: JsonObject) =>
    remove({ manifestName: 'deployment web', location, options });

  /** Makes a Deployment, and answers when its ReplicaSet is there. */
  async function makeDeployment(namespace: string): Promise<void> {
    await createLive(namespace, 'deployments', createWorkload('Deployment', 'web', { replicas: 1 }));
    await expect.poll(() => listNames(namespace, 'replicasets')).toHaveLength(1);
  }

  test('deletes one object with its dependents', async () => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    const result = await removeWeb(ns.name, { cascading: true });
    expect(result).toEqual({
      manifestNamesByNamespace: { [ns.name]: ['deployment web'] },
      manifests: [],
      createdArtifacts: [],
      boundArtifacts: [],
    });
    expect(await findLive(ns.name, 'deployments/web')).toBeUndefined();
    await expect.poll(() => listNames(ns.name, 'replicasets')).toEqual([]);
  });

  test.each([
    [{ cascading: false }],
    [{ orphanDependents: 'True', cascading: true }],
    [{ orphanDependants: 'true' }],
  ])('keeps the dependents with %j', async (options) => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    await removeWeb(ns.name, options);
    expect(await findLive(ns.name, 'deployments/web')).toBeUndefined();
    const [name] = await listNames(ns.name, 'replicasets');
    const replicaSet = await findLive(ns.name, `replicasets/${name}`);
    expect(replicaSet).not.toHaveProperty('metadata.ownerReferences');
  });

  test('foreground: the dependents are gone when the operation ends', async () => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    await removeWeb(ns.name, { cascading: 'foreground' });
    expect(await listNames(ns.name, 'replicasets')).toEqual([]);
  });

  test('a cascading that Kubernetes does not know fails the task, and deletes nothing', async () => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    await expect(removeWeb(ns.name, { cascading: 'bogus' })).rejects.toThrow(
      'deleteManifest: options.cascading: invalid cascade value (bogus): expected one of true, false, background, foreground, orphan',
    );
    expect(await findLive(ns.name, 'deployments/web')).not.toHaveProperty('metadata.deletionTimestamp');
  });

  test('gives a pod its grace period and waits for its end', async () => {
    await using ns = await createNamespace();
    const pod = createManifest('v1', 'Pod', {
      name: 'one',
      more: { spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] } },
    });
    await createLive(ns.name, 'pods', pod);
    await expect.poll(() => findLive(ns.name, 'pods/one')).toHaveProperty('status.phase', 'Running');
    await remove({ manifestName: 'pod one', location: ns.name, options: { gracePeriodSeconds: 0 } });
    expect(await findLive(ns.name, 'pods/one')).toBeUndefined();
  });

  test('deletes what is cluster-scoped', async () => {
    await using ns = await createNamespace();
    const name = `role-of-${ns.name}`;
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name, more: { rules: [] } });
    await requestApi('POST', path, role);
    const result = await remove({ manifestName: `clusterRole ${name}` });
    expect(result.manifestNamesByNamespace).toEqual({ '': [`clusterRole ${name}`] });
    expect(await findObject(`${path}/${name}`)).toBeUndefined();
  });

  test('what is missing is deleted already', async () => {
    await using ns = await createNamespace();
    const result = await remove({ manifestName: 'deployment web', location: ns.name });
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: [] });
  });

  test('deletes the objects of some kinds that labels select', async () => {
    await using ns = await createNamespace();
    for (const [name, tier] of Object.entries({ a: 'old', b: 'new', c: 'old' }))
      await createLive(ns.name, 'configmaps', createConfigMap(name, {}, { labels: { tier } }));
    const labels = { tier: 'old' };
    await createLive(ns.name, 'deployments', createWorkload('Deployment', 'web', { labels }));
    const result = await remove({
      location: ns.name,
      kinds: ['configMap', 'deploy', 'deployment', 'service'],
      labelSelectors: { selectors: [{ kind: 'EQUALS', key: 'tier', values: ['old'] }] },
    });
    expect(result.manifestNamesByNamespace).toEqual({
      [ns.name]: ['configMap a', 'configMap c', 'deployment web'],
    });
    expect(await listNames(ns.name, 'configmaps')).toEqual(['b']);
  });

  test('a named object that the labels do not select stays', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'configmaps', createConfigMap('a', {}));
    const labelSelectors = { selectors: [{ kind: 'EXISTS', key: 'tier' }] };
    const result = await remove({ manifestName: 'configMap a', location: ns.name, labelSelectors });
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: [] });
    expect(await listNames(ns.name, 'configmaps')).toEqual(['a']);
  });

  test('fails when something holds the object too long, and says what', async () => {
    await using ns = await createNamespace();
    const flags = createConfigMap('flags', {});
    await createLive(ns.name, 'configmaps', flags);
    const path = getPathOf(ns.name, 'configmaps/flags');
    await requestApi('PATCH', path, { metadata: { finalizers: ['busdriver.test/hold'] } });
    let elapsedMs = 0;
    await using hurried = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }], {
      clock: { now: () => (elapsedMs += 60_000) },
    });
    const description = { account: 'test', manifestName: 'configMap flags', location: ns.name };
    await expect(runOperation(getOperation(hurried, 'deleteManifest'), description)).rejects.toThrow(
      'configMap flags is still there 10 minutes after its deletion was asked for; ' +
        'these finalizers hold it: busdriver.test/hold',
    );
    await requestApi('PATCH', path, { metadata: { finalizers: null } });
  });

  test('a repeat never deletes a newcomer of the same name', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'configmaps', createConfigMap('a', { age: 'old' }));
    const record = emptyRecord();
    const description = { account: 'test', manifestName: 'configMap a', location: ns.name };
    const crash = runOperation(operation, description, { record, crashAtCommit: 2 });
    await expect(crash).rejects.toBeInstanceOf(CrashError);
    expect(await findLive(ns.name, 'configmaps/a')).toBeUndefined();
    await createLive(ns.name, 'configmaps', createConfigMap('a', { age: 'new' }));
    const result = await runOperation(operation, description, { record });
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: ['configMap a'] });
    expect(await findLive(ns.name, 'configmaps/a')).toMatchObject({ data: { age: 'new' } });
    expect(listHistory(record)).toEqual([
      `Beginning to delete configMap a in namespace ${ns.name}`,
      `Deleting configMap a in namespace ${ns.name}`,
      'Deleted 1 objects',
    ]);
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { findLive, getPathOf, listNames } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createDefinition,
  createManifest,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { createOrca, type Orca, type StageRun } from '#test/support/system/orca.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

describeWithCluster('what Orca makes of stages and of the buttons in Deck', (cluster) => {
  let system: Subject;
  let orca: Orca;

  beforeAll(async () => {
    system = await startSubject({ kubeconfig: cluster.kubeconfig });
    orca = createOrca({ subject: system, application: 'shop' });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  async function run(type: string, context: JsonObject, player = orca): Promise<StageRun> {
    const account = system.accounts[0] ?? '';
    const played = await player.run(type, { account, ...context });
    expect(played).toMatchObject({ status: 'SUCCEEDED' });
    return played;
  }

  function deploy(manifests: readonly JsonObject[], more: JsonObject = {}): Promise<StageRun> {
    return run('deployManifest', { moniker: { app: 'shop' }, manifests: [...manifests], ...more });
  }

  /** A stage with traffic management, as the form of a pipeline makes it. */
  function withStrategy(ns: TestNamespace, strategy: string): JsonObject {
    const options = { enableTraffic: true, namespace: ns.name, services: ['service web'], strategy };
    return { trafficManagement: { enabled: true, options } };
  }

  function createVersion(ns: TestNamespace, image: string, parts: JsonObject = {}): JsonObject {
    const web = createWorkload('ReplicaSet', 'web', { namespace: ns.name, replicas: 1, image });
    return { ...web, metadata: { ...(web.metadata as JsonObject), ...parts } };
  }

  /** The names of pods that the service sends traffic to. */
  async function listServing(ns: TestNamespace): Promise<string[]> {
    const pods = (await requestApi('GET', `${getPathOf(ns.name, 'pods')}?labelSelector=serves%3Dweb`)) as {
      items: { metadata: { ownerReferences: { name: string }[] } }[];
    };
    return pods.items.map(({ metadata }) => metadata.ownerReferences[0]?.name ?? '').sort();
  }

  async function createServing(): Promise<TestNamespace> {
    const ns = await createNamespace('orca');
    const service = createService('web', { serves: 'web' }, { namespace: ns.name });
    await requestApi('POST', getPathOf(ns.name, 'services'), service);
    return ns;
  }

  const retired = (after: readonly StageRun[]) =>
    after.map(({ type, context }) => `${type} ${context['manifestName']}`);

  it.each([
    { strategy: 'none', after: [], serving: ['web-v000', 'web-v001'], left: ['web-v000', 'web-v001'] },
    {
      strategy: 'redblack',
      after: ['disableManifest replicaSet web-v000'],
      serving: ['web-v001'],
      left: ['web-v000', 'web-v001'],
    },
    {
      strategy: 'bluegreen',
      after: ['disableManifest replicaSet web-v000'],
      serving: ['web-v001'],
      left: ['web-v000', 'web-v001'],
    },
    {
      strategy: 'highlander',
      after: ['disableManifest replicaSet web-v000', 'deleteManifest replicaSet web-v000'],
      serving: ['web-v001'],
      left: ['web-v001'],
    },
  ])('a deploy with the strategy $strategy', async ({ strategy, after, serving, left }) => {
    await using ns = await createServing();
    const first = await deploy([createVersion(ns, 'registry.test/web:1')], withStrategy(ns, strategy));
    expect(first).toMatchObject({ after: [], outputs: { createdArtifacts: [{ reference: 'web-v000' }] } });
    expect(await listServing(ns)).toEqual(['web-v000']);
    const second = await deploy([createVersion(ns, 'registry.test/web:2')], withStrategy(ns, strategy));
    expect(retired(second.after)).toEqual(after);
    expect(await listServing(ns)).toEqual(serving);
    expect(await listNames(ns.name, 'replicasets')).toEqual(left);
    expect(second.tasks).toEqual([
      ...['resolveDeploySourceManifest', 'deployManifest', 'monitorTask', 'promoteOutputs'],
      ...['waitForManifestStable', 'cleanupArtifacts', 'monitorTask', 'promoteOutputs'],
      ...['bindProducedArtifacts', 'addStrategyStages'],
    ]);
  });

  it('red/black: what never came up is deleted, and old versions are cleaned up', async () => {
    await using ns = await createServing();
    const annotations = { 'strategy.spinnaker.io/max-version-history': '2' };
    const version = (image: string) => createVersion(ns, image, { annotations });
    await deploy([version('registry.test/web:1')], withStrategy(ns, 'redblack'));
    const impatient = createOrca({ subject: system, application: 'shop', stableTimeoutMs: 1_500 });
    const broken = await impatient.run('deployManifest', {
      ...{ account: system.accounts[0] ?? '', moniker: { app: 'shop' } },
      ...withStrategy(ns, 'redblack'),
      manifests: [version('registry.invalid/web:2')],
    });
    expect(broken).toMatchObject({ status: 'TERMINAL', message: 'Timed out waiting for stable manifests' });
    const third = await deploy([version('registry.test/web:3')], withStrategy(ns, 'redblack'));
    expect(retired(third.after)).toEqual(['deleteManifest replicaSet web-v001']);
    expect(await listNames(ns.name, 'replicasets')).toEqual(['web-v002']);
  });

  it('a rollout that fails ends the stage with the reason of Kubernetes, once all others are stable', async () => {
    await using ns = await createNamespace('orca');
    const web = createWorkload('Deployment', 'web', {
      ...{ namespace: ns.name, replicas: 1, image: 'registry.invalid/web:1' },
    });
    const failing = { ...web, spec: { ...(web.spec as JsonObject), progressDeadlineSeconds: 1 } };
    const slow = createWorkload('StatefulSet', 'slow', { namespace: ns.name, replicas: 1 });
    const annotations = { 'kubecluster.test/start-delay': '2s' };
    const template = { ...(getPath(slow, 'spec', 'template') as JsonObject) };
    const metadata = { ...(template['metadata'] as JsonObject), annotations };
    const delayed = { ...slow, spec: { ...(slow.spec as JsonObject), template: { ...template, metadata } } };
    const played = await orca.run('deployManifest', {
      ...{ account: system.accounts[0] ?? '', moniker: { app: 'shop' } },
      manifests: [failing, delayed],
    });
    expect(played).toMatchObject({
      status: 'TERMINAL',
      message: expect.stringMatching(
        /^Deployment exceeded its progress deadline: ReplicaSet "web-.*" has timed out progressing/,
      ),
    });
    expect(await findLive(ns.name, 'statefulsets/slow')).toHaveProperty('status.readyReplicas', 1);
  });

  it('edit: what was last applied is changed and deployed again', async () => {
    await using ns = await createNamespace('orca');
    await deploy([createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 1 })]);
    const found = await run('findArtifactsFromResource', {
      ...{ location: ns.name, manifestName: 'deployment web' },
    });
    expect(found.outputs).toMatchObject({ artifacts: [{ reference: 'registry.test/web:1' }] });
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    const record = getPath(found.outputs, 'manifest', 'metadata', 'annotations', key);
    const edited = JSON.parse(String(record).replace('registry.test/web:1', 'registry.test/web:2'));
    const played = await deploy([edited], { source: 'text', isNew: false });
    expect(played.outputs).toMatchObject({
      manifestNamesByNamespace: { [ns.name]: ['deployment web'] },
      createdArtifacts: [{ name: 'web', reference: 'web' }],
    });
    const live = await findLive(ns.name, 'deployments/web');
    expect(live).toHaveProperty('spec.template.spec.containers.0.image', 'registry.test/web:2');
    expect(live).toHaveProperty('status.readyReplicas', 1);
  });

  it('scale, pause, resume, rolling restart, undo and patch of a Deployment', async () => {
    await using ns = await createNamespace('orca');
    const web = (image: string) =>
      createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 1, image });
    await deploy([web('registry.test/web:1')]);
    const target = { location: ns.name, manifestName: 'deployment web' };
    const read = () => findLive(ns.name, 'deployments/web');

    const scaled = await run('scaleManifest', { ...target, replicas: '2' });
    expect(scaled.tasks).toEqual([
      'resolveTargetManifest',
      'scaleManifest',
      'monitorTask',
      'waitForManifestStable',
    ]);
    expect(await read()).toMatchObject({ spec: { replicas: 2 }, status: { readyReplicas: 2 } });

    await run('pauseRolloutManifest', target);
    expect(await read()).toHaveProperty('spec.paused', true);
    await run('resumeRolloutManifest', target);
    expect(await read()).not.toHaveProperty('spec.paused');

    await deploy([web('registry.test/web:2')]);
    await run('rollingRestartManifest', target);
    const restarted = ['spec', 'template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt'];
    expect(await read()).toHaveProperty(restarted);

    await run('undoRolloutManifest', { ...target, numRevisionsBack: 2 });
    const image = 'spec.template.spec.containers.0.image';
    expect(await read()).toHaveProperty(image, 'registry.test/web:1');
    await run('undoRolloutManifest', { ...target, revision: '2' });
    expect(await read()).toHaveProperty(image, 'registry.test/web:2');

    const patched = await run('patchManifest', {
      ...{ ...target, source: 'text', options: { mergeStrategy: 'strategic', record: true } },
      patchBody: {
        spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.test/web' }] } } },
      },
      allArtifacts: [{ type: 'docker/image', name: 'registry.test/web', reference: 'registry.test/web:3' }],
    });
    expect(patched.outputs).toMatchObject({
      manifestNamesByNamespace: { [ns.name]: ['deployment web'] },
      boundArtifacts: [{ reference: 'registry.test/web:3' }],
    });
    expect(await read()).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'registry.test/web:3' }] } } },
      status: { updatedReplicas: 1, readyReplicas: 1 },
    });
  });

  it('disable and enable one member of a cluster, found by criteria', async () => {
    await using ns = await createServing();
    for (const image of ['registry.test/web:1', 'registry.test/web:2']) {
      await deploy([createVersion(ns, image)], withStrategy(ns, 'none'));
    }
    const target = {
      location: ns.name,
      kind: 'replicaSet',
      cluster: 'replicaSet web',
      mode: 'dynamic',
      app: 'shop',
    };
    const disabled = await run('disableManifest', { ...target, criteria: 'second_newest' });
    expect(disabled.outputs).toEqual({ manifestNamesByNamespace: { [ns.name]: ['replicaSet web-v000'] } });
    expect(await listServing(ns)).toEqual(['web-v001']);
    await run('enableManifest', { ...target, criteria: 'oldest' });
    expect(await listServing(ns)).toEqual(['web-v000', 'web-v001']);
  });

  it('delete: static, by criteria, by labels', async () => {
    await using ns = await createNamespace('orca');
    const inCluster = { namespace: ns.name, labels: { tier: 'spare' } };
    for (const image of ['registry.test/web:1', 'registry.test/web:2', 'registry.test/web:3']) {
      await deploy([createVersion(ns, image)]);
    }
    await deploy([createConfigMap('flags', {}, inCluster), createService('web', { app: 'web' }, inCluster)]);
    const options = { cascading: true };
    const dynamic = { mode: 'dynamic', kind: 'replicaSet', cluster: 'replicaSet web', app: 'shop' };
    const newest = await run('deleteManifest', {
      ...dynamic,
      location: ns.name,
      criteria: 'newest',
      options,
    });
    expect(newest.outputs).toEqual({
      ...{ manifests: [], boundArtifacts: [], createdArtifacts: [] },
      manifestNamesByNamespace: { [ns.name]: ['replicaSet web-v002'] },
    });
    const manifestName = 'replicaSet web-v000';
    await run('deleteManifest', { mode: 'static', location: ns.name, manifestName, options });
    expect(await listNames(ns.name, 'replicasets')).toEqual(['web-v001']);
    const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'tier', values: ['spare'] }] };
    await run('deleteManifest', {
      ...{ mode: 'label', location: ns.name, kinds: ['configMap', 'service'], labelSelectors, options },
    });
    expect(await listNames(ns.name, 'configmaps')).toEqual([]);
    expect(await listNames(ns.name, 'services')).toEqual([]);
    const account = system.accounts[0] ?? '';
    const gone = { ...dynamic, account, location: ns.name, criteria: 'second_newest', options };
    expect(await orca.run('deleteManifest', gone)).toMatchObject({
      ...{ status: 'TERMINAL', tasks: ['resolveTargetManifest'] },
      message: expect.stringContaining('No second_newest replicaSet of cluster'),
    });
  });

  it('delete of a pod, and of raw resources, cluster-scoped and custom ones too', async () => {
    await using ns = await createNamespace('orca');
    const suffix = ns.name.replaceAll('-', '');
    const definition = createDefinition(`w${suffix}`, `W${suffix}`, 'Cluster');
    const containers = [{ name: 'main', image: 'registry.test/web:1' }];
    const pod = createManifest('v1', 'Pod', {
      name: 'bare',
      namespace: ns.name,
      more: { spec: { containers } },
    });
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', {
      ...{ name: ns.name, more: { rules: [] } },
    });
    const custom = createManifest('stable.example.com/v1', `W${suffix}`, { name: 'one' });
    const played = await deploy([pod, role, custom, definition]);
    expect(played.outputs['manifestNamesByNamespace']).toEqual({
      '': [
        `clusterRole ${ns.name}`,
        `customResourceDefinition w${suffix}.stable.example.com`,
        `W${suffix}.stable.example.com one`,
      ],
      [ns.name]: ['pod bare-v000'],
    });
    await run('deleteManifest', { location: ns.name, manifestName: 'pod bare-v000', options: {} });
    expect(await findLive(ns.name, 'pods/bare-v000')).toBeUndefined();
    const others = [
      ...[`W${suffix}.stable.example.com one`, `clusterRole ${ns.name}`],
      `customResourceDefinition w${suffix}.stable.example.com`,
    ];
    for (const manifestName of others) {
      await run('deleteManifest', { location: '', manifestName, options: { cascading: true } });
    }
    expect(await findObject(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${ns.name}`)).toBeUndefined();
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect(await findObject(`${definitions}/w${suffix}.stable.example.com`)).toBeUndefined();
  });

  it('numbers that Orca casts to Double are written as such', async () => {
    await using ns = await createNamespace('orca');
    await deploy([createVersion(ns, 'registry.test/web:1')]);
    const target = `/manifests/${system.accounts[0]}/${ns.name}/replicaSet%20web-v000`;
    const text = await (await system.fetch(target)).text();
    expect(text).toMatch(/"availableReplicas":1\.0\b/);
    expect(text).toMatch(/"readyReplicas":1\.0\b/);
  });
});

import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, findObject, kubectl } from '#test/support/cluster/cluster.ts';
import { findLive, listNames } from '../live.ts';
import {
  createConfigMap,
  createDefinition,
  createJob,
  createManifest,
  createSecret,
  createWorkload,
  toMoniker,
} from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, type OperationResult, runOperation } from './task-run.ts';

describeWithCluster('deployManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'deployManifest');

  function deploy(manifests: readonly Manifest[], more: JsonObject = {}): Promise<OperationResult> {
    return runOperation(operation, describe(manifests, more));
  }

  test('creates an object, marks it as Spinnaker does, and answers it', async () => {
    await using ns = await createNamespace();
    const record = emptyRecord();
    const web = createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 2 });
    const result = await runOperation(operation, describe([web]), { record });

    const live = await findLive(ns.name, 'deployments/web');
    const marks = {
      'artifact.spinnaker.io/type': 'kubernetes/deployment',
      'artifact.spinnaker.io/name': 'web',
      'artifact.spinnaker.io/location': ns.name,
      'artifact.spinnaker.io/version': '',
      ...toMoniker('deployment web'),
    };
    const labels = { 'app.kubernetes.io/name': 'shop', 'app.kubernetes.io/managed-by': 'spinnaker' };
    expect(live).toMatchObject({
      metadata: { annotations: marks, labels },
      spec: {
        replicas: 2,
        template: { metadata: { annotations: marks, labels: { app: 'web', ...labels } } },
      },
    });
    const identity = { type: 'kubernetes/deployment', name: 'web', version: '', location: ns.name };
    const created = { ...identity, customKind: false };
    expect(result).toMatchObject({
      manifestNamesByNamespace: { [ns.name]: ['deployment web'] },
      manifests: [{ kind: 'Deployment', metadata: { name: 'web', namespace: ns.name } }],
      createdArtifacts: [{ ...created, reference: 'web', metadata: { account: 'test' } }],
      boundArtifacts: [],
    });
    expect(listHistory(record)).toEqual([
      'Beginning the deployment to account test',
      'Order of deployment: deployment web',
      'Bound artifacts in deployment web: none',
      'Annotated deployment web with its artifact and moniker',
      'Checking that each required artifact was bound',
      'Submitting deployment web',
      'deployment web: created',
      'Deployed 1 of 1 manifests',
    ]);
  });

  test('writes numbers as doubles, and no field ownership', async () => {
    await using ns = await createNamespace();
    const record = emptyRecord();
    const web = createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 2 });
    await runOperation(operation, describe([web]), { record });
    const text = record.journal.flatMap(({ results = [] }) => results).join();
    expect(text).toContain('"replicas":2.0');
    expect(text).not.toContain('managedFields');
  });

  test('one unversioned manifest costs one read and one write, and no journal entry of its own', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    await using recorded = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const recordedDeploy = getOperation(recorded, 'deployManifest');
    const path = `/apis/apps/v1/namespaces/${ns.name}/deployments`;
    const costs = async (manifest: Manifest): Promise<unknown> => {
      proxy.calls.length = 0;
      const record = emptyRecord();
      await runOperation(recordedDeploy, describe([manifest]), { record });
      return { calls: proxy.calls.map(({ method, path }) => `${method} ${path}`), commits: record.commits };
    };
    const web = createWorkload('Deployment', 'web', { namespace: ns.name });
    const changed = createWorkload('Deployment', 'web', { namespace: ns.name, image: 'registry.test/web:2' });
    const read = `GET ${path}/web`;
    expect(await costs(web)).toEqual({ calls: [read, `POST ${path}`], commits: 1 });
    expect(await costs(web)).toEqual({ calls: [read], commits: 1 });
    expect(await costs(changed)).toEqual({ calls: [read, `PATCH ${path}/web`], commits: 1 });
  });

  test('overrides the namespace of what lives in one, and expands lists', async () => {
    await using ns = await createNamespace();
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', {
      name: `role-of-${ns.name}`,
      more: { rules: [] },
    });
    const config = createConfigMap('plain', {}, { namespace: 'elsewhere' });
    const list = { apiVersion: 'v1', kind: 'List', items: [config, null, role] };
    const result = await deploy([list], { namespaceOverride: ns.name, versioned: 'false' });
    expect(result.manifestNamesByNamespace).toEqual({
      [ns.name]: ['configMap plain'],
      '': [`clusterRole role-of-${ns.name}`],
    });
    expect(await listNames(ns.name, 'configmaps')).toEqual(['plain']);
  });

  test('takes a list of one kind as kubectl does', async () => {
    await using ns = await createNamespace();
    const place = { namespace: ns.name };
    const list = (apiVersion: string, kind: string, items: Manifest[]) => ({ apiVersion, kind, items });
    const manifests = [
      list('rbac.authorization.k8s.io/v1', 'RoleList', [{ metadata: { name: 'one', ...place }, rules: [] }]),
      list('v1', 'ConfigMapList', [createConfigMap('two', {}, place)]),
    ];
    const command = ['apply', '--dry-run=client', '--output', 'name', '--filename', '-'];
    const named = await kubectl(command, { stdin: manifests.map((each) => JSON.stringify(each)).join('\n') });
    expect(named.trim().split('\n')).toEqual(['role.rbac.authorization.k8s.io/one', 'configmap/two']);
    const result = await deploy(manifests, { versioned: false });
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: ['role one', 'configMap two'] });
  });

  test('what names no namespace lands in the one of the kubeconfig', async () => {
    await using ns = await createNamespace();
    const name = `of-${ns.name}`;
    const result = await deploy([createConfigMap(name, {})], { versioned: false });
    expect(result.manifestNamesByNamespace).toEqual({ default: [`configMap ${name}`] });
    expect(result.createdArtifacts).toMatchObject([{ location: '' }]);
  });

  test('deploys in the order of kinds and tells later manifests of earlier ones', async () => {
    await using ns = await createNamespace();
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'flags', key: 'a' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'keys', key: 'text' } } },
    ];
    const containers = [
      { name: 'main', image: 'registry.test/web:1', env, envFrom: [{ configMapRef: { name: 'flags' } }] },
    ];
    const volumes = [
      { name: 'flags', configMap: { name: 'flags' } },
      { name: 'keys', secret: { secretName: 'keys' } },
      { name: 'foreign', configMap: { name: 'foreign' } },
    ];
    const web = createWorkload('Deployment', 'web', { namespace: ns.name, more: { containers, volumes } });
    const flags = createConfigMap('flags', { a: '1' }, { namespace: ns.name });
    const keys = createSecret('keys', 'planted-secret', { namespace: ns.name });
    const result = await deploy([web, keys, flags]);

    expect(await findLive(ns.name, 'deployments/web')).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: [
                  { valueFrom: { configMapKeyRef: { name: 'flags-v000' } } },
                  { valueFrom: { secretKeyRef: { name: 'keys-v000' } } },
                ],
                envFrom: [{ configMapRef: { name: 'flags-v000' } }],
              },
            ],
            volumes: [
              { configMap: { name: 'flags-v000' } },
              { secret: { secretName: 'keys-v000' } },
              { configMap: { name: 'foreign' } },
            ],
          },
        },
      },
    });
    expect(result.manifestNamesByNamespace).toEqual({
      [ns.name]: ['secret keys-v000', 'configMap flags-v000', 'deployment web'],
    });
    expect(result.boundArtifacts).toMatchObject([{ reference: 'flags-v000' }, { reference: 'keys-v000' }]);
  });

  test('a changed ConfigMap or Secret gets a new version, an unchanged one keeps its own', async () => {
    await using ns = await createNamespace();
    const flags = (value: string) => createConfigMap('flags', { value }, { namespace: ns.name });
    const keys = (value: string) => createSecret('keys', value, { namespace: ns.name });
    const names = async (one: Manifest, other: Manifest) =>
      (await deploy([one, other])).manifestNamesByNamespace[ns.name];
    expect(await names(flags('1'), keys('1'))).toEqual(['configMap flags-v000', 'secret keys-v000']);
    expect(await names(flags('1'), keys('2'))).toEqual(['configMap flags-v000', 'secret keys-v001']);
    expect(await names(flags('2'), keys('1'))).toEqual(['configMap flags-v001', 'secret keys-v000']);
    const marks = { 'moniker.spinnaker.io/sequence': '1', 'artifact.spinnaker.io/version': 'v001' };
    expect(await findLive(ns.name, 'configmaps/flags-v001')).toMatchObject({
      metadata: { annotations: marks, labels: { 'moniker.spinnaker.io/sequence': '1' } },
    });
  });

  test('the same ReplicaSet twice makes two versions', async () => {
    await using ns = await createNamespace();
    const web = createWorkload('ReplicaSet', 'web', { namespace: ns.name });
    await deploy([web]);
    await deploy([web]);
    expect(await listNames(ns.name, 'replicasets')).toEqual(['web-v000', 'web-v001']);
  });

  const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };
  test.each([
    { who: 'the annotation', annotations: unversioned, more: { versioned: true }, name: 'flags' },
    { who: 'the request', annotations: {}, more: { versioned: false }, name: 'flags' },
    { who: 'the kind', annotations: {}, more: {}, name: 'flags-v000' },
  ])('$who decides about versions', async ({ annotations, more, name }) => {
    await using ns = await createNamespace();
    await deploy([createConfigMap('flags', {}, { namespace: ns.name, annotations })], more);
    expect(await listNames(ns.name, 'configmaps')).toEqual([name]);
  });

  test('no secret shows in results', async () => {
    await using ns = await createNamespace();
    const record = emptyRecord();
    const keys = createSecret('keys', 'planted-secret', { namespace: ns.name });
    const flags = createConfigMap('flags', {}, { namespace: ns.name });
    await runOperation(operation, describe([keys, flags]), { record });
    const encoded = Buffer.from('planted-secret').toString('base64');
    expect(JSON.stringify(await findLive(ns.name, 'secrets/keys-v000'))).toContain(encoded);
    expect(JSON.stringify(record)).not.toContain(encoded);
  });

  test('artifacts of the request: required before optional, none with binding off', async () => {
    await using ns = await createNamespace();
    const name = 'registry.test/web';
    const image = (tag: string) => ({ type: 'docker/image', name, reference: `${name}:${tag}` });
    const web = createWorkload('Deployment', 'web', { namespace: ns.name, image: 'registry.test/web' });
    const deployedImage = async (more: JsonObject): Promise<unknown> => {
      const { manifests, boundArtifacts } = await deploy([web], more);
      return {
        image: JSON.stringify(manifests).match(/"image":"([^"]*)"/)?.[1],
        bound: boundArtifacts.map(({ reference }) => reference),
      };
    };
    expect(await deployedImage({ optionalArtifacts: [image('optional')] })).toEqual({
      image: 'registry.test/web:optional',
      bound: ['registry.test/web:optional'],
    });
    expect(
      await deployedImage({ requiredArtifacts: [image('required')], optionalArtifacts: [image('optional')] }),
    ).toEqual({ image: 'registry.test/web:required', bound: ['registry.test/web:required'] });
    expect(
      await deployedImage({ requiredArtifacts: [image('required')], enableArtifactBinding: false }),
    ).toEqual({ image: 'registry.test/web', bound: [] });
  });

  test('an unbound required artifact stops the deploy before anything is submitted', async () => {
    await using ns = await createNamespace();
    const requiredArtifacts = [{ type: 'docker/image', name: 'registry.test/other', reference: 'x' }];
    const manifests = [
      createConfigMap('flags', {}, { namespace: ns.name }),
      createWorkload('Deployment', 'web', { namespace: ns.name }),
    ];
    await expect(deploy(manifests, { requiredArtifacts })).rejects.toThrow(
      "Required artifact docker/image 'registry.test/other' was not bound: " +
        'no manifest refers to it by that name, but to registry.test/web:1',
    );
    expect(await listNames(ns.name, 'configmaps')).toEqual([]);
  });

  test('a manifest that the server refuses ends the deploy, named, with the words of the server', async () => {
    await using ns = await createNamespace();
    const manifests = [
      createConfigMap('flags', {}, { namespace: ns.name }),
      createWorkload('Deployment', 'Web', { namespace: ns.name }),
      createManifest('autoscaling/v2', 'HorizontalPodAutoscaler', { name: 'web', namespace: ns.name }),
    ];
    await expect(deploy(manifests, { versioned: false })).rejects.toThrow(
      new RegExp(
        `^Deploying deployment Web in namespace ${ns.name} failed: .*metadata.name: Invalid value: "Web"`,
      ),
    );
    expect(await listNames(ns.name, 'configmaps')).toEqual(['flags']);
    expect(await listNames(ns.name, 'horizontalpodautoscalers')).toEqual([]);
  });

  test('labels select what is deployed; the artifacts of all are told', async () => {
    await using ns = await createNamespace();
    const one = createConfigMap('one', {}, { namespace: ns.name, labels: { tier: 'a' } });
    const two = createConfigMap('two', {}, { namespace: ns.name, labels: { tier: 'b' } });
    const select = (value: string) => ({
      versioned: false,
      labelSelectors: { selectors: [{ kind: 'EQUALS', key: 'tier', values: [value] }] },
    });
    const result = await deploy([one, two], select('b'));
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: ['configMap two'] });
    expect(result.createdArtifacts).toMatchObject([{ name: 'one' }, { name: 'two' }]);
    expect(await listNames(ns.name, 'configmaps')).toEqual(['two']);
    await expect(deploy([one, two], select('c'))).rejects.toThrow('Nothing was deployed');
    const nothing = await deploy([one, two], { ...select('c'), allowNothingSelected: true });
    expect(nothing).toMatchObject({ manifestNamesByNamespace: {}, manifests: [] });
  });

  test('leaves the labels of the pod template alone when asked to', async () => {
    await using ns = await createNamespace();
    await deploy([createWorkload('Deployment', 'web', { namespace: ns.name })], {
      skipSpecTemplateLabels: true,
    });
    const live = await findLive(ns.name, 'deployments/web');
    expect(live).toMatchObject({ metadata: { labels: { 'app.kubernetes.io/name': 'shop' } } });
    expect(live).toHaveProperty('spec.template.metadata.labels', { app: 'web' });
  });

  test('a generated name: the beginning stays, and each deploy makes another object', async () => {
    await using ns = await createNamespace();
    const job = createJob({ generateName: 'smoke-', namespace: ns.name });
    const first = await deploy([job]);
    await deploy([job]);
    const names = await listNames(ns.name, 'jobs');
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^smoke-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(first.manifestNamesByNamespace[ns.name]?.[0]).toMatch(/^job smoke-.{5}$/);
    const annotations = { 'moniker.spinnaker.io/cluster': 'job smoke-' };
    expect(first.manifests).toMatchObject([{ metadata: { generateName: 'smoke-', annotations } }]);
  });

  test('a definition and objects of its kind in one request', async () => {
    await using ns = await createNamespace();
    const suffix = ns.name.replaceAll('-', '');
    const definitions = [
      createDefinition(`n${suffix}`, `N${suffix}`, 'Namespaced'),
      createDefinition(`c${suffix}`, `C${suffix}`, 'Cluster'),
    ];
    const objects = ['C', 'N'].map((letter) =>
      createManifest('stable.example.com/v1', letter + suffix, { name: 'one', more: { spec: { size: 1 } } }),
    );
    try {
      const result = await deploy([...objects, ...definitions], { namespaceOverride: ns.name });
      expect(result.manifestNamesByNamespace).toEqual({
        '': [
          `customResourceDefinition n${suffix}.stable.example.com`,
          `customResourceDefinition c${suffix}.stable.example.com`,
          `C${suffix}.stable.example.com one`,
        ],
        [ns.name]: [`N${suffix}.stable.example.com one`],
      });
      const path = `/apis/stable.example.com/v1/namespaces/${ns.name}/n${suffix}/one`;
      expect(await findObject(path)).toMatchObject({ spec: { size: 1 } });
    } finally {
      const remove = getOperation(provider, 'deleteManifest');
      for (const letter of ['n', 'c']) {
        const manifestName = `customResourceDefinition ${letter}${suffix}.stable.example.com`;
        await runOperation(remove, { account: 'test', manifestName });
      }
    }
  });

  test('a create whose answer is lost on the way is found, and made once', async () => {
    await using ns = await createNamespace();
    const lost: string[] = [];
    await using proxy = await startApiProxy(cluster, {
      cut: ({ method, path }) => method === 'POST' && !lost.includes(path) && lost.push(path) > 0,
    });
    await using provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const job = createJob({ generateName: 'smoke-', namespace: ns.name });
    const web = createWorkload('Deployment', 'web', { namespace: ns.name });
    const result = await runOperation(getOperation(provider, 'deployManifest'), describe([job, web]));
    expect(lost).toHaveLength(2);
    expect(await listNames(ns.name, 'jobs')).toHaveLength(1);
    expect(result.manifestNamesByNamespace[ns.name]?.[1]).toBe('deployment web');
  });

  test('deploys nothing from an empty list', async () => {
    expect(await deploy([])).toEqual({
      manifestNamesByNamespace: {},
      manifests: [],
      createdArtifacts: [],
      boundArtifacts: [],
    });
  });
});

function describe(manifests: readonly Manifest[], more: JsonObject = {}): JsonObject {
  return { account: 'test', moniker: { app: 'shop' }, manifests: [...manifests], ...more };
}

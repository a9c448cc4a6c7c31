import { afterAll, describe, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { findLive, listNames } from '../live.ts';
import {
  createConfigMap,
  createJob,
  createManifest,
  createSecret,
  createWorkload,
  toMoniker,
} from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { type OperationResult, runOperation } from './task-run.ts';

const artifactMarks = ['type', 'name', 'location', 'version'].map((key) => `artifact.spinnaker.io/${key}`);
const monikerMarks = ['application', 'cluster'].map((key) => `moniker.spinnaker.io/${key}`);

/** A pod spec that refers to artifacts in every place that Spinnaker looks at. */
const referringPodSpec: JsonObject = {
  restartPolicy: 'Never',
  initContainers: [{ name: 'init', image: 'registry.test/web:1' }],
  containers: [
    {
      ...{ name: 'main', image: 'registry.test/web:1' },
      envFrom: [{ configMapRef: { name: 'flags' } }, { secretRef: { name: 'keys' } }],
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'flags', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'keys', key: 'text' } } },
        { name: 'C', value: 'flags' },
      ],
    },
  ],
  volumes: [
    { name: 'v1', configMap: { name: 'flags' } },
    { name: 'v2', secret: { secretName: 'keys' } },
    { name: 'v3', projected: { sources: [{ configMap: { name: 'flags' } }, { secret: { name: 'keys' } }] } },
  ],
};
/** How often each name occurs in it as a reference. */
const references = { image: 2, flags: 4, keys: 4 };
const image = { type: 'docker/image', name: 'registry.test/web', reference: 'registry.test/web@sha256:1f' };

describeWithCluster('the rules of deployManifest', (cluster) => {
  const account = { name: 'test', kubeconfigFile: cluster.kubeconfig };
  const provider = openProvider([account]);
  afterAll(() => provider[Symbol.asyncDispose]());

  function deploy(
    manifests: readonly Manifest[],
    more: JsonObject = {},
    via: Provider = provider,
  ): Promise<OperationResult> {
    const description = { account: 'test', moniker: { app: 'shop' }, manifests: [...manifests], ...more };
    return runOperation(getOperation(via, 'deployManifest'), description);
  }

  describe('artifacts', () => {
    test('are bound in every place of every kind of workload', async () => {
      await using ns = await createNamespace();
      const { restartPolicy: _, ...forever } = referringPodSpec;
      const workload = (kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet') =>
        createWorkload(kind, kind.toLowerCase(), {
          namespace: ns.name,
          ...(kind !== 'DaemonSet' && { replicas: 0 }),
          more: { ...forever, nodeSelector: { nowhere: 'to-be-found' } },
        });
      const jobSpec = { suspend: true, template: { spec: referringPodSpec } };
      const inNamespace = (apiVersion: string, kind: string, spec: JsonObject) =>
        createManifest(apiVersion, kind, { name: kind.toLowerCase(), namespace: ns.name, more: { spec } });
      const workloads = [
        ...(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'] as const).map(workload),
        inNamespace('batch/v1', 'Job', jobSpec),
        inNamespace('batch/v1', 'CronJob', { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec } }),
      ];
      const configs = [
        createConfigMap('flags', { a: '1' }, { namespace: ns.name }),
        createSecret('keys', 'x', { namespace: ns.name }),
      ];
      const result = await deploy([...workloads, ...configs], { requiredArtifacts: [image] });
      const objects = result.manifests.filter(({ spec }) => spec !== undefined);
      expect(objects).toHaveLength(workloads.length);
      for (const object of objects) {
        const spec = JSON.stringify(object.spec);
        const count = (text: string) => spec.split(`"${text}"`).length - 1;
        expect({
          kind: object.kind,
          ...{ image: count(image.reference), flags: count('flags-v000'), keys: count('keys-v000') },
        }).toEqual({ kind: object.kind, ...references });
        expect(spec).toContain('"value":"flags"');
      }
      expect(result.boundArtifacts.map(({ reference }) => reference).sort()).toEqual([
        ...['flags-v000', 'keys-v000', image.reference],
      ]);
    });

    test('in a bare pod are images of its containers, compared whole, its ConfigMaps and its Secrets', async () => {
      await using ns = await createNamespace();
      const spec = { ...referringPodSpec, nodeSelector: { nowhere: 'to-be-found' } };
      const place = { namespace: ns.name };
      const pod = createManifest('v1', 'Pod', { name: 'bare', ...place, more: { spec } });
      const whole = { ...image, name: 'registry.test/web:1' };
      const configs = [createConfigMap('flags', {}, place), createSecret('keys', 'x', place)];
      const { boundArtifacts } = await deploy([pod, ...configs], { optionalArtifacts: [image, whole] });
      expect(boundArtifacts.map(({ name }) => name)).toEqual(['registry.test/web:1', 'flags', 'keys']);
      const live = await findLive(ns.name, 'pods/bare-v000');
      expect(live).toMatchObject({
        spec: {
          initContainers: [{ image: 'registry.test/web:1' }],
          containers: [{ image: image.reference }],
        },
      });
      const text = JSON.stringify(live?.['spec']);
      const count = (name: string) => text.split(`"${name}"`).length - 1;
      const counts = { flags: count('flags-v000'), keys: count('keys-v000') };
      expect(counts).toEqual({ flags: references.flags, keys: references.keys });
    });

    test('are what an autoscaler scales, by the kind it names', async () => {
      await using ns = await createNamespace();
      const scaler = (name: string, kind: string) =>
        createManifest('autoscaling/v2', 'HorizontalPodAutoscaler', {
          ...{ name, namespace: ns.name },
          more: { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: 'web' }, maxReplicas: 2 } },
        });
      const manifests = [
        ...[scaler('one', 'Deployment'), scaler('two', 'ReplicaSet'), scaler('three', 'StatefulSet')],
        createWorkload('ReplicaSet', 'web', { namespace: ns.name, replicas: 0 }),
        createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 0 }),
      ];
      const { boundArtifacts } = await deploy(manifests);
      expect(boundArtifacts.map(({ type, reference }) => `${type} ${reference}`)).toEqual([
        ...['kubernetes/deployment web', 'kubernetes/replicaSet web-v000'],
      ]);
      const target = async (name: string) => {
        const live = await findLive(ns.name, `horizontalpodautoscalers/${name}`);
        return getPath(live, 'spec', 'scaleTargetRef', 'name');
      };
      expect(await Promise.all(['one', 'two', 'three'].map(target))).toEqual(['web', 'web-v000', 'web']);
    });

    test('of another namespace or account are not bound, of no account they are', async () => {
      await using ns = await createNamespace();
      const flags = (version: string, location: string, metadata?: JsonObject) => ({
        ...{ type: 'kubernetes/configMap', name: 'flags', location, version, reference: `flags-${version}` },
        ...(metadata && { metadata }),
      });
      const volumes = [{ name: 'flags', configMap: { name: 'flags' } }];
      const parts = { namespace: ns.name, replicas: 0, more: { volumes } };
      const web = createWorkload('Deployment', 'web', parts);
      const foreign = [flags('v001', 'elsewhere'), flags('v002', ns.name, { account: 'other' })];
      const unbound = await deploy([web], { optionalArtifacts: foreign });
      expect(unbound.boundArtifacts).toEqual([]);
      const bound = await deploy([web], { optionalArtifacts: [...foreign, flags('v003', ns.name)] });
      expect(bound.boundArtifacts).toMatchObject([{ reference: 'flags-v003' }]);
    });

    test('made by the same deploy count before those of the request, also with binding off', async () => {
      await using ns = await createNamespace();
      const volumes = [{ name: 'flags', configMap: { name: 'flags' } }];
      const parts = { namespace: ns.name, replicas: 0, more: { volumes } };
      const manifests = [
        createWorkload('Deployment', 'web', parts),
        createConfigMap('flags', {}, { namespace: ns.name }),
      ];
      const given = { type: 'kubernetes/configMap', name: 'flags', location: ns.name, version: 'v009' };
      const optionalArtifacts = [{ ...given, reference: 'flags-v009' }];
      for (const more of [{ optionalArtifacts }, { optionalArtifacts, enableArtifactBinding: false }]) {
        expect((await deploy(manifests, more)).boundArtifacts).toMatchObject([{ reference: 'flags-v000' }]);
      }
      await expect(deploy(manifests, { requiredArtifacts: optionalArtifacts })).rejects.toThrow(
        "Required artifact kubernetes/configMap 'flags'",
      );
    });

    test('with match-name-only an image with a tag is not taken for its name', async () => {
      await using ns = await createNamespace();
      const settings = { kubernetes: { 'artifact-binding': { 'docker-image': 'match-name-only' } } };
      await using strict = openProvider([account], { settings });
      const web = createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 0 });
      expect((await deploy([web], { optionalArtifacts: [image] }, strict)).boundArtifacts).toEqual([]);
      const whole = { ...image, name: 'registry.test/web:1' };
      const bound = await deploy([web], { optionalArtifacts: [whole] }, strict);
      expect(bound.boundArtifacts).toMatchObject([{ name: 'registry.test/web:1' }]);
    });
  });

  describe('annotations and labels', () => {
    test('stand on a CronJob and on a bare Pod alone, not on what they make', async () => {
      await using ns = await createNamespace();
      const spec = { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: createJob({}).spec ?? {} } };
      const containers = [{ name: 'main', image: 'registry.test/web:1' }];
      await deploy([
        createManifest('batch/v1', 'CronJob', { name: 'sweep', namespace: ns.name, more: { spec } }),
        createManifest('v1', 'Pod', { name: 'bare', namespace: ns.name, more: { spec: { containers } } }),
      ]);
      const cronJob = await findLive(ns.name, 'cronjobs/sweep');
      const pod = await findLive(ns.name, 'pods/bare-v000');
      for (const live of [cronJob, pod]) {
        const annotations = getPath(live, 'metadata', 'annotations') as JsonObject;
        expect(Object.keys(annotations)).toEqual(expect.arrayContaining([...artifactMarks, ...monikerMarks]));
      }
      const template = getPath(cronJob, 'spec', 'jobTemplate');
      expect(JSON.stringify(template)).not.toContain('spinnaker');
    });

    test('of the user win, but for who manages it and what it is', async () => {
      await using ns = await createNamespace();
      const own = toMoniker('deployment other', 'other');
      const copied = { 'artifact.spinnaker.io/name': 'other', 'artifact.spinnaker.io/version': 'v003' };
      const labels = { 'app.kubernetes.io/name': 'other', 'app.kubernetes.io/managed-by': 'helm' };
      const parts = { namespace: ns.name, replicas: 0, annotations: { ...own, ...copied }, labels };
      await deploy([createWorkload('Deployment', 'web', parts)]);
      const record = { 'artifact.spinnaker.io/name': 'web', 'artifact.spinnaker.io/version': '' };
      expect(await findLive(ns.name, 'deployments/web')).toMatchObject({
        metadata: {
          annotations: { ...own, ...record },
          labels: { ...labels, 'app.kubernetes.io/managed-by': 'spinnaker' },
        },
        spec: { template: { metadata: { annotations: { 'moniker.spinnaker.io/application': 'shop' } } } },
      });
    });

    test('hold the whole moniker of the request', async () => {
      await using ns = await createNamespace();
      const moniker = { app: 'shop', cluster: 'shop-main', stack: 'main', detail: 'eu', sequence: '7' };
      await deploy([createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 0 })], { moniker });
      const marks = Object.entries({ ...moniker, application: 'shop' }).filter(([key]) => key !== 'app');
      expect(await findLive(ns.name, 'deployments/web')).toMatchObject({
        metadata: {
          annotations: Object.fromEntries(
            marks.map(([key, value]) => [`moniker.spinnaker.io/${key}`, value]),
          ),
          labels: { 'moniker.spinnaker.io/sequence': '7' },
        },
      });
    });

    test('follow the settings of all accounts', async () => {
      await using ns = await createNamespace();
      const deployWith = async (name: string, v2: JsonObject) => {
        await using custom = openProvider([account], { settings: { kubernetes: { v2 } } });
        await deploy([createConfigMap(name, {}, { namespace: ns.name })], { versioned: false }, custom);
        return findLive(ns.name, `configmaps/${name}`);
      };
      expect(await deployWith('bare', { 'apply-app-labels': false })).not.toHaveProperty('metadata.labels');
      expect(await deployWith('suffixed', { 'managed-by-suffix': 'eu' })).toHaveProperty(
        ['metadata', 'labels', 'app.kubernetes.io/managed-by'],
        'spinnaker-eu',
      );
    });
  });

  describe('versions', () => {
    test.each(['server-side-apply', 'replace', 'recreate'])(
      'with the strategy %s: content is told by the record of an apply alone',
      async (strategy) => {
        await using ns = await createNamespace();
        const annotations = { [`strategy.spinnaker.io/${strategy}`]: 'true' };
        const flags = createConfigMap('flags', { a: '1' }, { namespace: ns.name, annotations });
        await deploy([flags]);
        await deploy([flags]);
        // Only an apply on this side leaves a record.
        const versions = strategy === 'recreate' ? ['flags-v000'] : ['flags-v000', 'flags-v001'];
        expect(await listNames(ns.name, 'configmaps')).toEqual(versions);
      },
    );

    test('are none for a versioned kind whose name is made up', async () => {
      await using ns = await createNamespace();
      const containers = [{ name: 'main', image: 'registry.test/web:1' }];
      const pod = {
        ...createManifest('v1', 'Pod', { name: '', namespace: ns.name, more: { spec: { containers } } }),
        metadata: { generateName: 'bare-', namespace: ns.name },
      };
      const { createdArtifacts } = await deploy([pod]);
      expect(createdArtifacts).toMatchObject([{ type: 'kubernetes/pod', version: '' }]);
      expect(await listNames(ns.name, 'pods')).toEqual([expect.stringMatching(/^bare-[a-z0-9]{5}$/)]);
    });
  });

  test('the older field `manifest` counts where there are no `manifests`', async () => {
    await using ns = await createNamespace();
    const manifest = createConfigMap('old', {}, { namespace: ns.name });
    const result = await deploy([], { manifest, versioned: false });
    expect(result.manifestNamesByNamespace).toEqual({ [ns.name]: ['configMap old'] });
  });

  const unzoned = { kind: 'NOT_EXISTS', key: 'zone' };
  const tier = { key: 'tier', values: ['a'] };
  test.each([
    { selectors: [{ kind: 'ANY' }], selected: ['both', 'none', 'one'] },
    { selectors: [{ kind: 'EQUALS', ...tier }], selected: ['both', 'one'] },
    { selectors: [{ kind: 'NOT_EQUALS', ...tier }], selected: ['none'] },
    { selectors: [{ kind: 'CONTAINS', key: 'tier', values: ['a', 'b'] }], selected: ['both', 'one'] },
    { selectors: [{ kind: 'NOT_CONTAINS', key: 'zone', values: ['x', 'y'] }], selected: ['none', 'one'] },
    { selectors: [{ kind: 'EXISTS', key: 'zone' }], selected: ['both'] },
    { selectors: [unzoned], selected: ['none', 'one'] },
    { selectors: [{ kind: 'EQUALS', ...tier }, unzoned], selected: ['one'] },
    {
      selectors: [{ kind: 'EQUALS', key: 'app.kubernetes.io/managed-by', values: ['spinnaker'] }],
      selected: ['both', 'none', 'one'],
    },
  ])('labels select: $selectors', async ({ selectors, selected }) => {
    await using ns = await createNamespace();
    const manifests = [
      createConfigMap('none', {}, { namespace: ns.name }),
      createConfigMap('one', {}, { namespace: ns.name, labels: { tier: 'a' } }),
      createConfigMap('both', {}, { namespace: ns.name, labels: { tier: 'a', zone: 'x' } }),
    ];
    await deploy(manifests, { versioned: false, labelSelectors: { selectors } });
    expect(await listNames(ns.name, 'configmaps')).toEqual(selected);
  });

  test('a webhook comes after what it would refuse, since nothing answers it yet', async () => {
    await using ns = await createNamespace();
    const name = `judge-of-${ns.name}`;
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    const judge = {
      ...{
        name: 'judge.busdriver.test',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 1,
      },
      clientConfig: { service: { namespace: ns.name, name: 'judge' } },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns.name } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    };
    const webhook = createManifest('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {
      ...{ name, more: { webhooks: [judge] } },
    });
    const flags = (text: string) => createConfigMap('flags', { text }, { namespace: ns.name });
    try {
      const { createdArtifacts } = await deploy([webhook, flags('a')]);
      const types = createdArtifacts.map(({ type }) => type);
      expect(types).toEqual(['kubernetes/configMap', 'kubernetes/validatingWebhookConfiguration']);
      let count = 0;
      const redeploy = () => deploy([flags(`b${count++}`)]).then(() => 'deployed', String);
      await expect.poll(redeploy).toContain('failed calling webhook "judge.busdriver.test"');
    } finally {
      await requestApi('DELETE', `${path}/${name}`);
    }
  });

  test('what labels leave out is not recreated either', async () => {
    await using ns = await createNamespace();
    const annotations = { 'strategy.spinnaker.io/recreate': 'true' };
    const flags = createConfigMap('flags', {}, { namespace: ns.name, annotations });
    await deploy([flags], { versioned: false });
    const before = await findLive(ns.name, 'configmaps/flags');
    const labelSelectors = { selectors: [{ kind: 'EXISTS', key: 'tier' }] };
    await deploy([flags], { versioned: false, labelSelectors, allowNothingSelected: true });
    const after = await findLive(ns.name, 'configmaps/flags');
    expect(getPath(after, 'metadata', 'uid')).toBe(getPath(before, 'metadata', 'uid'));
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import type { Capability } from '#providers/kubernetes/kinds/kind.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject, SystemTask } from '#test/support/system/system.ts';
import { createKindSamples, type KindSample } from './kind-samples.ts';

/** Which capability each operation needs. */
const operations: readonly { name: string; capability: Capability; description: JsonObject }[] = [
  { name: 'scaleManifest', capability: 'scale', description: { replicas: 0 } },
  { name: 'resizeServerGroup', capability: 'resize', description: { capacity: { desired: 0 } } },
  { name: 'undoRolloutManifest', capability: 'undoRollout', description: { numRevisionsBack: 1 } },
  { name: 'pauseRolloutManifest', capability: 'pauseRollout', description: {} },
  { name: 'resumeRolloutManifest', capability: 'resumeRollout', description: {} },
  { name: 'rollingRestartManifest', capability: 'rollingRestart', description: {} },
  { name: 'enableManifest', capability: 'traffic', description: { loadBalancers: ['service web'] } },
  { name: 'disableManifest', capability: 'traffic', description: { loadBalancers: ['service web'] } },
];

/** What an operation is accepted for, and fails at, because Kubernetes cannot do it. */
const impossible: { readonly [what: string]: RegExp } = {
  'resizeServerGroup daemonSet': /a daemonSet has no number of replicas/,
  'pauseRolloutManifest statefulSet': /only a deployment can be paused/,
  'pauseRolloutManifest daemonSet': /only a deployment can be paused/,
  'resumeRolloutManifest statefulSet': /only a deployment can be paused/,
  'resumeRolloutManifest daemonSet': /only a deployment can be paused/,
};

/** Kinds of Spinnaker's that this API server has no more. */
const gone = [
  { kind: 'podPreset', apiVersion: 'settings.k8s.io/v1alpha1', kubernetesKind: 'PodPreset' },
  { kind: 'podSecurityPolicy', apiVersion: 'policy/v1beta1', kubernetesKind: 'PodSecurityPolicy' },
];

const containers = [{ name: 'main', image: 'registry.test/web:2' }];

// Samples are told by their kind alone while tests are registered: the namespace comes later.
const kinds = createKindSamples('none');

describeWithCluster('every kind', (cluster) => {
  let system: Subject;
  let ns: TestNamespace;
  let account: string;
  let samples: readonly KindSample[];
  let deployment: SystemTask;

  beforeAll(async () => {
    ns = await createNamespace('kinds');
    samples = createKindSamples(ns.name);
    system = await startSubject({ kubeconfig: cluster.kubeconfig });
    account = system.accounts[0] ?? '';
    const [deployable, others] = [false, true].map((isRefused) =>
      samples.filter(({ undeployable = false }) => undeployable === isRefused),
    );
    const manifests = (deployable ?? []).map(({ manifest }) => manifest).toReversed();
    deployment = await run([
      { deployManifest: { account, moniker: { app: 'shop' }, versioned: false, manifests } },
    ]);
    for (const sample of others ?? []) await requestApi('POST', getCollection(sample), sample.manifest);
  });
  afterAll(async () => {
    const global = samples.filter(({ namespaced }) => !namespaced);
    await Promise.all(global.map((sample) => requestApi('DELETE', getTarget(sample)).catch(() => undefined)));
    await system?.[Symbol.asyncDispose]();
    await ns?.[Symbol.asyncDispose]();
  });

  const getSample = (kind: string): KindSample => {
    const sample = samples.find((each) => each.kind === kind);
    if (sample === undefined) throw new Error(`There is no sample of ${kind}`);
    return sample;
  };
  const getName = ({ manifest }: KindSample): string => String(getPath(manifest, 'metadata', 'name'));
  const getLocation = ({ namespaced }: KindSample): string => (namespaced ? ns.name : '');

  function getCollection({ served, namespaced }: KindSample): string {
    const [apiVersion = '', plural] = served.split(' ');
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    return namespaced ? `${base}/namespaces/${ns.name}/${plural}` : `${base}/${plural}`;
  }

  function getTarget(sample: KindSample): string {
    return `${getCollection(sample)}/${getName(sample)}`;
  }

  async function run(operations: readonly JsonObject[]): Promise<SystemTask> {
    return system.waitForTask(await system.postOperations(operations));
  }

  async function succeed(name: string, descriptions: readonly JsonObject[]): Promise<SystemTask> {
    const task = await run(descriptions.map((description) => ({ [name]: { account, ...description } })));
    expect(task.resultObjects.filter(({ type }) => type === 'EXCEPTION')).toEqual([]);
    return task;
  }

  async function refuse(operations: readonly JsonObject[]): Promise<unknown> {
    const response = await system.fetch('/kubernetes/ops', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(operations),
    });
    const answer = (await response.json()) as { errors?: unknown };
    expect(response.status).toBe(400);
    return answer.errors;
  }

  async function read(fullName: string, location: string): Promise<{ status: number; body: JsonObject }> {
    const target = `/manifests/${account}/${location === '' ? '_' : location}/${encodeURIComponent(fullName)}`;
    const response = await system.fetch(target);
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  it('has a sample, or is served no more', () => {
    const known = [...kinds, ...gone].map(({ kind }) => kind);
    expect(known).toEqual(expect.arrayContaining(builtInKinds.map(({ name }) => name)));
  });

  it('is deployed, all in one request and in the order of kinds', async () => {
    const deployable = samples.filter(({ undeployable }) => !undeployable);
    const { resultObjects, history } = deployment;
    expect(resultObjects).toMatchObject([{ manifestNamesByNamespace: expect.anything() }]);
    const [result] = resultObjects as readonly { manifestNamesByNamespace: Record<string, string[]> }[];
    const names = (isNamespaced: boolean) =>
      deployable
        .filter(({ namespaced }) => namespaced === isNamespaced)
        .map((sample) => `${sample.kind} ${getName(sample)}`)
        .sort();
    const { '': global = [], [ns.name]: own = [], ...others } = result?.manifestNamesByNamespace ?? {};
    expect([global.toSorted(), own.toSorted(), others]).toEqual([names(false), names(true), {}]);
    const order = history.find(({ status }) => status.startsWith('Order of deployment'))?.status ?? '';
    const deployed = order.replace('Order of deployment: ', '').split(', ');
    const priority = (fullName: string) =>
      builtInKinds.find(({ name }) => name === fullName.split(' ')[0])?.deployPriority ?? 1000;
    const priorities = deployed.map(priority);
    expect(priorities).toEqual(priorities.toSorted((one, other) => one - other));
    expect(deployed).toHaveLength(deployable.length);
  });

  it('is refused where only Kubernetes may make it', async () => {
    const refused = samples.filter(({ undeployable }) => undeployable);
    const errors = await refuse([
      {
        deployManifest: {
          ...{ account, moniker: { app: 'shop' } },
          manifests: refused.map(({ manifest }) => manifest),
        },
      },
    ]);
    expect(errors).toEqual(
      refused.map(({ kind }) => expect.stringContaining(`${kind} web cannot be deployed`)),
    );
  });

  it.each(operations)('$name is refused for kinds that cannot', async ({ name, capability, description }) => {
    const unable = [...samples, ...gone].filter(({ kind }) => !isAble(kind, capability));
    expect(unable.length).toBeGreaterThan(25);
    const errors = await refuse(
      unable.map(({ kind }) => ({
        [name]: { account, ...nameTarget(`${kind} web`, ns.name), ...description },
      })),
    );
    expect(errors).toEqual(
      unable.map(({ kind }) => expect.stringContaining(`the kind ${kind} does not support ${capability}`)),
    );
  });

  it.each(
    operations.flatMap(({ name, capability, description }) =>
      kinds
        .filter(({ kind }) => isAble(kind, capability))
        .map(({ kind }) => ({ name, kind, description, failure: impossible[`${name} ${kind}`] })),
    ),
  )('$name of a $kind', async ({ name, kind, description, failure }) => {
    const target = nameTarget(`${kind} web`, ns.name);
    if (name === 'undoRolloutManifest') await makeRevision(kind);
    const task = await run([{ [name]: { account, ...target, ...description } }]);
    const messages = task.resultObjects.map(({ message }) => message);
    expect(messages).toEqual(failure === undefined ? [] : [expect.stringMatching(failure)]);
    if (failure === undefined) await expectEffect(name, kind);
  });

  /** Another template, whose revision its controller has noted. */
  async function makeRevision(kind: string): Promise<void> {
    const sample = getSample(kind);
    const template = { spec: { containers: [{ name: 'main', image: 'registry.test/web:2' }] } };
    await requestApi('PATCH', getTarget(sample), { spec: { template } });
    const isSeen = async () => {
      const live = (await findObject(getTarget(sample))) as JsonObject;
      return getPath(live, 'status', 'observedGeneration') === getPath(live, 'metadata', 'generation');
    };
    await expect.poll(isSeen, { interval: 20 }).toBe(true);
  }

  async function expectEffect(name: string, kind: string): Promise<void> {
    const live = (await findObject(getTarget(getSample(kind)))) as JsonObject;
    const template = getPath(live, 'spec', 'template');
    const labels = getPath(template ?? live, 'metadata', 'labels') ?? {};
    const restartedAt = 'kubectl.kubernetes.io/restartedAt';
    const effects: { readonly [name: string]: () => void } = {
      scaleManifest: () => expect(live).toHaveProperty('spec.replicas', 0),
      resizeServerGroup: () => expect(live).toHaveProperty('spec.replicas', 0),
      undoRolloutManifest: () =>
        expect(template).toHaveProperty('spec.containers.0.image', 'registry.test/web:1'),
      pauseRolloutManifest: () => expect(live).toHaveProperty('spec.paused', true),
      resumeRolloutManifest: () => expect(live).not.toHaveProperty('spec.paused'),
      rollingRestartManifest: () =>
        expect(getPath(template, 'metadata', 'annotations')).toHaveProperty([restartedAt]),
      enableManifest: () => expect(labels).toHaveProperty('behind', 'web'),
      disableManifest: () => expect(labels).not.toHaveProperty('behind'),
    };
    effects[name]?.();
  }

  it('a Job is run, and nothing else', async () => {
    const others = samples.filter(({ kind }) => kind !== 'job');
    const description = { account, application: 'shop' };
    const errors = await refuse(others.map(({ manifest }) => ({ runJob: { ...description, manifest } })));
    expect(errors).toEqual(
      others.map((sample) => `runJob: manifest: expected a Job, got ${sample.kind} ${getName(sample)}`),
    );
  });

  it.each([
    { kind: 'configMap', change: { data: { a: '2' } } },
    { kind: 'secret', change: { data: { a: 'Mg==' } } },
    { kind: 'replicaSet', change: {} },
    { kind: 'pod', change: { spec: { terminationGracePeriodSeconds: 1, containers } } },
  ])('$kind has versions, of which the old ones are cleaned up', async ({ kind, change }) => {
    const sample = getSample(kind);
    const annotations = { 'strategy.spinnaker.io/max-version-history': '1' };
    const metadata = { name: 'versions', namespace: ns.name, annotations };
    const deploy = async (more: JsonObject) => {
      const manifests = [{ ...sample.manifest, ...more, metadata }];
      const task = await succeed('deployManifest', [{ moniker: { app: 'shop' }, manifests }]);
      return task.resultObjects[0]?.['manifests'] as JsonObject[];
    };
    await deploy({});
    const manifests = await deploy(change);
    const isThere = async () => {
      const names = ['versions-v000', 'versions-v001'].map((name) => `${getCollection(sample)}/${name}`);
      return (await Promise.all(names.map(findObject))).map((found) => found !== undefined);
    };
    expect(await isThere()).toEqual([true, true]);
    const task = await succeed('cleanupArtifacts', [{ manifests }]);
    expect(task.resultObjects).toMatchObject([
      { manifestNamesByNamespace: { [ns.name]: [`${kind} versions-v000`] } },
    ]);
    expect(await isThere()).toEqual([false, true]);
  });

  it.each(kinds)('$kind is read, patched and deleted', async ({ kind }) => {
    const sample = getSample(kind);
    const location = getLocation(sample);
    const names = [kind, ...sample.spellings].map((spelling) => `${spelling} ${getName(sample)}`);
    for (const name of names) {
      const { status, body } = await read(name, location);
      expect(status).toBe(200);
      expect(body).toMatchObject({ name: names[0], location, status: { failed: { state: false } } });
    }
    const types = ['strategic', 'merge', 'json'];
    const path = '/metadata/labels/json';
    await succeed(
      'patchManifest',
      types.map((mergeStrategy, index) => ({
        ...{ manifestName: names[index % names.length] ?? '', location, options: { mergeStrategy } },
        patchBody:
          mergeStrategy === 'json'
            ? [{ op: 'add', path, value: 'yes' }]
            : { metadata: { labels: { [mergeStrategy]: 'yes' } } },
      })),
    );
    expect(await findObject(getTarget(sample))).toMatchObject({
      metadata: { labels: { strategic: 'yes', merge: 'yes', json: 'yes' } },
    });
    const options = { gracePeriodSeconds: '1' };
    const task = await succeed('deleteManifest', [{ manifestName: names.at(-1) ?? '', location, options }]);
    // Kinds that Spinnaker does not know keep the case in which they were written.
    const text = JSON.stringify(task.resultObjects).toLowerCase();
    expect(text).toContain(JSON.stringify({ [location]: [names[0]] }).toLowerCase());
    expect((await read(names[0] ?? '', location)).status).toBe(404);
  });

  it.each(gone)('$kind, which the cluster serves no more, is an error that says so', async (old) => {
    const { kind, apiVersion, kubernetesKind } = old;
    const manifest = { apiVersion, kind: kubernetesKind, metadata: { name: 'web' } };
    const target = nameTarget(`${kind} web`, '');
    const task = await run([
      { deployManifest: { account, moniker: { app: 'shop' }, manifests: [manifest] } },
      { deleteManifest: { account, ...target } },
    ]);
    expect(task.resultObjects).toHaveLength(2);
    for (const { message } of task.resultObjects)
      expect(message).toMatch(/does not serve it|not find the requested/);
    expect((await read(`${kind} web`, '')).status).toBe(404);
  });
});

function isAble(kind: string, capability: Capability): boolean {
  return builtInKinds.find(({ name }) => name === kind)?.capabilities.has(capability) ?? false;
}

/** A target in the words of both families of operations. */
function nameTarget(fullName: string, location: string): JsonObject {
  return { manifestName: fullName, serverGroupName: fullName, location, region: location };
}

import { afterAll, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { readManifest } from '#test/support/providers/provider-set.ts';
import { createLive, definitions, findLive } from '../live.ts';
import {
  createConfigMap,
  createDefinition,
  createManifest,
  createSecret,
  createWorkload,
} from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, type OperationResult, runOperation } from './task-run.ts';

const by = (mergeStrategy: string): JsonObject => ({ options: { mergeStrategy } });
const podSpec = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });

describeWithCluster('patchManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const operation = getOperation(provider, 'patchManifest');

  test('answers the name of the object, a stub of it and what was bound', async () => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    const record = emptyRecord();
    const image = {
      type: 'docker/image',
      name: 'registry.test/web',
      reference: 'registry.test/web:2',
      metadata: { build: 4 },
    };
    const description = {
      credentials: 'test',
      manifestName: 'deploy web',
      location: ns.name,
      patchBody: podSpec({ containers: [{ name: 'main', image: 'registry.test/web' }] }),
      ...by('strategic'),
      allArtifacts: [image, { ...image, name: 'other' }],
      requiredArtifacts: [image],
    };
    expect(await runOperation(operation, description, { record })).toEqual({
      manifestNamesByNamespace: { [ns.name]: ['deployment web'] },
      manifests: [{ kind: 'deployment', metadata: { name: 'web', namespace: ns.name } }],
      createdArtifacts: [],
      boundArtifacts: [{ ...image, customKind: false }],
    });
    // Doubles are for manifests alone.
    expect(record.journal.flatMap(({ results = [] }) => results).join()).toContain('"build":4}');
    const live = await findLive(ns.name, 'deployments/web');
    const containers = getPath(live, 'spec', 'template', 'spec', 'containers');
    expect(containers).toMatchObject([{ image: 'registry.test/web:2' }]);
    const what = `deployment web in namespace ${ns.name}`;
    expect(listHistory(record)).toEqual([
      `Patching ${what}`,
      'Bound artifacts in the patch: registry.test/web:2',
      `Patched ${what}`,
    ]);
  });

  test.each([
    ['first', [2, 3]],
    ['last', [3, 2]],
  ])('of two artifacts of one image binds the required one, which comes %s', async (_, tags) => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    const name = 'registry.test/web';
    const images = tags.map((tag) => ({ type: 'docker/image', name, reference: `${name}:${tag}` }));
    const required = { type: 'docker/image', name, reference: `${name}:2` };
    const { boundArtifacts } = await runOperation(operation, {
      ...toDescription('deployment web', ns.name),
      patchBody: podSpec({ containers: [{ name: 'main', image: name }] }),
      ...by('strategic'),
      allArtifacts: images,
      requiredArtifacts: [required],
    });
    expect(boundArtifacts).toEqual([{ ...required, customKind: false, metadata: {} }]);
    const spec = getPath(await findLive(ns.name, 'deployments/web'), 'spec', 'template', 'spec');
    expect(spec).toMatchObject({ containers: [{ image: `${name}:2` }] });
  });

  test('patches nothing when a required artifact does not stand in the patch', async () => {
    await using ns = await createNamespace();
    await makeDeployment(ns.name);
    const image = { type: 'docker/image', name: 'registry.test/none', reference: 'registry.test/none:2' };
    const patchBody = { spec: { replicas: 3 } };
    const artifacts = { allArtifacts: [image], requiredArtifacts: [image] };
    const description = toDescription('deployment web', ns.name, { patchBody, ...by('merge') });
    await expect(runOperation(operation, { ...description, ...artifacts })).rejects.toThrow(
      "failed: Required artifact docker/image 'registry.test/none' was not bound: " +
        'no manifest refers to it by that name, nor to any docker/image',
    );
    expect(await findLive(ns.name, 'deployments/web')).toHaveProperty('spec.replicas', 0);
  });

  test.each([
    ['strategic', { data: { b: '2' } }, ['PATCH']],
    ['merge', { data: { b: '2' } }, ['PATCH']],
    ['json', [{ op: 'add', path: '/data/b', value: '2' }], ['GET', 'PATCH']],
  ])('%s costs few calls', async (mergeStrategy, patchBody, calls) => {
    await using ns = await createNamespace();
    await makeConfigMap(ns.name);
    await using proxy = await startApiProxy(cluster);
    await using counted = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const description = toDescription('configMap flags', ns.name, { patchBody, ...by(mergeStrategy) });
    await runOperation(getOperation(counted, 'patchManifest'), description);
    expect(await findLive(ns.name, 'configmaps/flags')).toHaveProperty('data', { a: '1', b: '2' });
    expect(proxy.calls.map(({ method }) => method)).toEqual(calls);
  });

  test('null removes a member', async () => {
    await using ns = await createNamespace();
    await makeConfigMap(ns.name);
    await patch('configMap flags', ns.name, { data: { a: null, b: '2' } });
    expect(await findLive(ns.name, 'configmaps/flags')).toHaveProperty('data', { b: '2' });
  });

  test('what is noted of a patch of a Secret gives away nothing', async () => {
    await using ns = await createNamespace();
    await createLive(ns.name, 'secrets', createSecret('keys', 'old'));
    const description = toDescription('secret keys', ns.name);
    const patchBody = { stringData: { text: 'planted' } };
    const record = emptyRecord();
    const result = await runOperation(
      operation,
      { ...description, patchBody, options: { mergeStrategy: 'merge', record: true } },
      { record },
    );
    const secret = await findLive(ns.name, 'secrets/keys');
    expect(getPath(secret, 'metadata', 'annotations')).toEqual({
      'kubernetes.io/change-cause': `kubectl patch secret keys --namespace=${ns.name} --record=true --type=merge --patch=CLASSIFIED`,
    });
    expect(getPath(secret, 'data', 'text')).toBe(Buffer.from('planted').toString('base64'));
    expect(JSON.stringify([result, record])).not.toContain('planted');
  });

  test('custom and cluster-scoped objects can be patched, but not by strategy strategic', async () => {
    await using ns = await createNamespace();
    const plural = `levers${ns.name.slice(-6)}`;
    const kind = `Lever${ns.name.slice(-6)}`;
    await requestApi('POST', definitions, createDefinition(plural, kind, 'Cluster'));
    const path = `/apis/stable.example.com/v1/${plural}`;
    await expect.poll(() => findObject(path)).toBeDefined();
    const lever = createManifest('stable.example.com/v1', kind, { name: 'a', more: { spec: { up: true } } });
    const isPosted = async () => (await requestApi('POST', path, lever).catch(() => undefined)) !== undefined;
    await expect.poll(isPosted, { timeout: 20_000 }).toBe(true);
    const fullName = `${kind}.stable.example.com a`;
    const result = await patch(fullName, '', { spec: { up: false } });
    expect(result.manifestNamesByNamespace).toEqual({ '': [fullName] });
    expect(await findObject(`${path}/a`)).toHaveProperty('spec', { up: false });
    // Orca reads it where it said that it is.
    const placed = await patch(fullName, ns.name, { spec: { up: true } });
    expect(placed.manifestNamesByNamespace).toEqual({ [ns.name]: [fullName] });
    const request = { account: 'test', location: ns.name, name: fullName, includeEvents: false };
    const read = await readManifest(provider, { ...request, revealSecrets: false });
    expect(read).toMatchObject({ name: fullName, status: { stable: { state: true } } });
    await expect(patch(fullName, '', { spec: { up: true } }, 'strategic')).rejects.toThrow(
      `a strategic patch is not supported by ${kind} of stable.example.com/v1, merge and json are`,
    );
    await requestApi('DELETE', `${definitions}/${plural}.stable.example.com`);
  });

  test("failures carry the API server's words", async () => {
    await using ns = await createNamespace();
    const what = `Patching configMap flags in namespace ${ns.name} failed: `;
    const missing = `${what}configmaps "flags" not found`;
    await expect(patch('configMap flags', ns.name, { data: {} })).rejects.toThrow(missing);
    const operations = [{ op: 'remove', path: '/data/none' }];
    await expect(patch('configMap flags', ns.name, operations, 'json')).rejects.toThrow(
      `${what}it was not found`,
    );
    await makeConfigMap(ns.name);
    await expect(patch('configMap flags', ns.name, operations, 'json')).rejects.toThrow(
      `${what}patchBody[0] (remove /data/none) does not fit it: the server rejected our request`,
    );
  });

  function patch(
    manifestName: string,
    location: string,
    ...[patchBody, mergeStrategy = Array.isArray(patchBody) ? 'json' : 'merge']: [
      JsonObject | JsonObject[],
      string?,
    ]
  ): Promise<OperationResult> {
    return runOperation(
      operation,
      toDescription(manifestName, location, { patchBody, ...by(mergeStrategy) }),
    );
  }
});

function toDescription(manifestName: string, location: string, more: JsonObject = {}): JsonObject {
  return { account: 'test', manifestName, location, ...more };
}

async function makeDeployment(namespace: string): Promise<void> {
  await createLive(namespace, 'deployments', createWorkload('Deployment', 'web', { replicas: 0 }));
}

async function makeConfigMap(namespace: string): Promise<void> {
  await createLive(namespace, 'configmaps', createConfigMap('flags', { a: '1' }));
}

import { afterAll, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { findLive, getPathOf, listNames } from '../../live.ts';
import { createConfigMap, createSecret, createWorkload } from '../../manifests.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';
import { type OperationResult, runOperation } from '../task-run.ts';

const limit = 'strategy.spinnaker.io/max-version-history';
const plurals: { readonly [kind: string]: string } = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  ReplicaSet: 'replicasets',
};

describeWithCluster('an object that carries the record of another one', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  function deploy(...manifests: Manifest[]): Promise<OperationResult> {
    const description = { account: 'test', moniker: { app: 'shop' }, manifests };
    return runOperation(getOperation(provider, 'deployManifest'), description);
  }

  /** What is named as deleted. */
  async function clean(
    manifests: readonly JsonObject[],
  ): Promise<OperationResult['manifestNamesByNamespace']> {
    const description = { account: 'test', manifests: [...manifests] };
    return (await runOperation(getOperation(provider, 'cleanupArtifacts'), description))
      .manifestNamesByNamespace;
  }

  /** Deploys ConfigMaps `app` of these contents, one after the other. Answers the result of the last. */
  async function deployApp(
    namespace: string,
    contents: readonly string[],
    kept = '2',
  ): Promise<OperationResult> {
    const results: OperationResult[] = [];
    for (const content of contents) {
      const annotations = { [limit]: kept };
      results.push(await deploy(createConfigMap('app', { content }, { namespace, annotations })));
    }
    return results.at(-1) as OperationResult;
  }

  test('is none of its versions: a copy under another name outlives a clean-up, mounted or not', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['1']);
    for (const name of ['app-backup', 'app-v007', 'app']) {
      await copy(ns.name, 'configmaps/app-v000', { name });
    }
    const volumes = [{ name: 'app', configMap: { name: 'app-backup' } }];
    await deploy(createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 0, more: { volumes } }));
    const { manifests } = await deployApp(ns.name, ['2', '3']);
    expect(await clean(manifests)).toEqual({ [ns.name]: ['configMap app-v000'] });
    expect(await listNames(ns.name, 'configmaps')).toEqual([
      ...['app', 'app-backup', 'app-v001', 'app-v002', 'app-v007'],
    ]);
  });

  test('nor is one of another kind', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['1']);
    const { kind: _, data: _data, ...like } = await strip(ns.name, 'configmaps/app-v000');
    await create(ns.name, {
      ...createSecret('', 'x'),
      ...like,
      metadata: { ...like.metadata, name: 'app-v000' },
    });
    const annotations = { [limit]: '1' };
    const { manifests, createdArtifacts } = await deploy(
      createSecret('app', 'own', { namespace: ns.name, annotations }),
    );
    expect(createdArtifacts).toMatchObject([{ reference: 'app-v001' }]);
    expect(await clean(manifests)).toEqual({});
    expect(await listNames(ns.name, 'secrets')).toEqual(['app-v000', 'app-v001']);
  });

  test('nor does it lead to where it was copied from', async () => {
    await using origin = await createNamespace('copied');
    await using ns = await createNamespace('copied');
    await deployApp(origin.name, ['1', '2', '3']);
    for (const name of ['app-v001', 'app-v002']) {
      await create(ns.name, await strip(origin.name, `configmaps/${name}`));
    }
    const mirrored = await findLive(ns.name, 'configmaps/app-v002');
    const manifest = {
      ...mirrored,
      metadata: { ...getMetadata(mirrored), annotations: annotate(mirrored, '1') },
    };
    expect(await clean([manifest])).toEqual({ [ns.name]: ['configMap app-v001'] });
    expect(await listNames(origin.name, 'configmaps')).toEqual(['app-v000', 'app-v001', 'app-v002']);
  });

  test('nor does a clean-up of the copy delete versions of the other one', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['1', '2', '3'], '1');
    const copied = await copy(ns.name, 'configmaps/app-v001', { name: 'app-backup' });
    expect(await clean([copied])).toEqual({});
    expect(await listNames(ns.name, 'configmaps')).toHaveLength(4);
  });

  test('nor is its content used again, nor its number counted', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['1']);
    await copyWithContent(ns.name, 'configmaps/app-v000', { metadata: { name: 'app-backup' }, content: '2' });
    const { createdArtifacts } = await deployApp(ns.name, ['2']);
    expect(createdArtifacts).toMatchObject([{ reference: 'app-v001', version: 'v001' }]);
    expect(await findLive(ns.name, 'configmaps/app-v001')).toHaveProperty('data.content', '2');
  });

  test('nor are its replicas those of what runs', async () => {
    await using ns = await createNamespace('copied');
    const annotations = { 'strategy.spinnaker.io/use-source-capacity': 'true' };
    const web = createWorkload('ReplicaSet', 'web', { namespace: ns.name, replicas: 1, annotations });
    await deploy({ ...web, spec: { ...(web['spec'] as JsonObject), replicas: 0 } });
    const mark = { 'artifact.spinnaker.io/version': 'v009' };
    await copy(ns.name, 'replicasets/web-v000', { name: 'web-backup', annotations: mark });
    await deploy(web);
    expect(await findLive(ns.name, 'replicasets/web-v001')).toHaveProperty('spec.replicas', 0);
  });

  test('what a controller owns takes its number, and is neither used again nor deleted', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['1']);
    const owner = await create(ns.name, createConfigMap('owner', {}));
    const metadata = {
      name: 'app-v003',
      annotations: { 'artifact.spinnaker.io/version': 'v003' },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'owner',
          uid: getMetadata(owner)['uid'] ?? '',
          controller: true,
        },
      ],
    };
    await copyWithContent(ns.name, 'configmaps/app-v000', { metadata, content: '2' });

    const second = await deployApp(ns.name, ['2'], '1');
    expect(second.createdArtifacts).toMatchObject([{ reference: 'app-v004' }]);
    const { manifests } = await deployApp(ns.name, ['3'], '1');
    expect(await clean(manifests)).toEqual({ [ns.name]: ['configMap app-v000', 'configMap app-v004'] });
    expect(await listNames(ns.name, 'configmaps')).toEqual(['app-v003', 'app-v005', 'owner']);
  });

  test.each(['apply', 'recreate', 'replace', 'server-side-apply'])(
    'a manifest that carries the record of a version is deployed as what it is, by %s',
    async (method) => {
      await using ns = await createNamespace('copied');
      const c = (content: string, annotations: JsonObject = {}) =>
        createConfigMap('c', { content }, { namespace: ns.name, annotations });
      await deploy(c('one'));
      const copied = getMetadata(await findLive(ns.name, 'configmaps/c-v000'))['annotations'] as JsonObject;
      const two = c('two', { ...copied, [`strategy.spinnaker.io/${method}`]: 'true' });

      expect((await deploy(two)).createdArtifacts).toMatchObject([{ reference: 'c-v001', version: 'v001' }]);
      // Found again by the record of the apply that the manifest brought, which was written anew.
      expect((await deploy(two)).createdArtifacts).toMatchObject([{ reference: 'c-v001' }]);
      expect(await findLive(ns.name, 'configmaps/c-v001')).toMatchObject({
        metadata: {
          annotations: { 'artifact.spinnaker.io/version': 'v001', 'moniker.spinnaker.io/sequence': '1' },
        },
      });
      // Nor does it pass for what it was copied from.
      await requestApi('DELETE', getPathOf(ns.name, 'configmaps/c-v000'));
      await deploy(c('one'));
      expect(await findLive(ns.name, 'configmaps/c-v001')).toHaveProperty('data.content', 'two');
    },
  );

  test('one that an earlier release recorded under another number keeps nobody from deploying', async () => {
    await using ns = await createNamespace('copied');
    await deployApp(ns.name, ['one']);
    await copyWithContent(ns.name, 'configmaps/app-v000', { metadata: { name: 'app-v001' }, content: 'two' });
    const { createdArtifacts } = await deployApp(ns.name, ['two', 'two']);
    expect(createdArtifacts).toMatchObject([{ reference: 'app-v002' }]);
    expect(await listNames(ns.name, 'configmaps')).toEqual(['app-v000', 'app-v001', 'app-v002']);
  });
});

/** What `kubectl get -o yaml` shows of an object, as far as it can be applied again. */
async function strip(
  namespace: string,
  resource: string,
): Promise<JsonObject & { readonly metadata: JsonObject }> {
  const live = await findLive(namespace, resource);
  const { name = null, annotations = null, labels = null } = getMetadata(live);
  const { status: _, ...rest } = live ?? {};
  return { ...rest, metadata: { name, annotations, labels } };
}

/** Makes another object of one that is there, with these members of its metadata and these annotations in place of its own. */
async function copy(namespace: string, resource: string, metadata: JsonObject): Promise<JsonObject> {
  const like = await strip(namespace, resource);
  const annotations = mergeAnnotations(like.metadata, metadata);
  return create(namespace, { ...like, metadata: { ...like.metadata, ...metadata, annotations } });
}

/** Makes another ConfigMap of one that is there, which looks as if it had been applied with this content. */
async function copyWithContent(
  namespace: string,
  resource: string,
  { metadata, content }: { readonly metadata: JsonObject; readonly content: string },
): Promise<void> {
  const like = await strip(namespace, resource);
  const record = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = {
    ...JSON.parse(String(getPath(like, 'metadata', 'annotations', record))),
    data: { content },
  };
  const annotations = { ...mergeAnnotations(like.metadata, metadata), [record]: JSON.stringify(applied) };
  await create(namespace, { ...like, metadata: { ...metadata, annotations }, data: { content } });
}

function mergeAnnotations(...all: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...all.map(({ annotations }) => annotations));
}

async function create(namespace: string, object: JsonObject): Promise<JsonObject> {
  const path = getPathOf(namespace, plurals[String(object['kind'])] ?? '');
  return (await requestApi('POST', path, object)) as JsonObject;
}

function getMetadata(object: JsonObject | undefined): JsonObject {
  return (getPath(object, 'metadata') ?? {}) as JsonObject;
}

/** The annotations of an object, with a limit. */
function annotate(object: JsonObject | undefined, kept: string): JsonObject {
  return { ...(getMetadata(object)['annotations'] as JsonObject), [limit]: kept };
}

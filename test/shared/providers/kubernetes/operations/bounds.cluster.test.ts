import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createLive, definitions, findLive } from '../live.ts';
import { createConfigMap, createDefinition, createJob, createManifest, createSecret } from '../manifests.ts';
import { getOperation, loadOperations, openProvider } from '../provider-setup.ts';
import { type OperationResult, runOperation } from './task-run.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };

/** The kubeconfig of a file, with another namespace for what names none. */
async function withDefault(file: string, namespace: string): Promise<string> {
  const config = parse(await readFile(file, 'utf8'));
  for (const { context } of config.contexts) context.namespace = namespace;
  return stringify(config);
}

describeWithCluster('the bounds of an account', (cluster) => {
  let own: TestNamespace;
  let vault: TestNamespace;
  let provider: Provider;
  let isUsed = 0;

  beforeAll(async () => {
    own = await createNamespace('own');
    vault = await createNamespace('vault');
    // What names no namespace would go to the vault: the kubeconfig says so.
    const kubeconfigContents = await withDefault(cluster.kubeconfig, vault.name);
    const customResources = [{ kubernetesKind: `Told${own.name.replaceAll('-', '')}.stable.example.com` }];
    provider = openProvider([
      { name: 'own', kubeconfigContents, namespaces: [own.name, 'other'], customResources },
      {
        name: 'closed',
        kubeconfigContents,
        namespaces: [own.name],
        clusterScopedKinds: false,
        customResources,
      },
      { name: 'omitting', kubeconfigContents, omitNamespaces: [vault.name] },
    ]);
    await loadOperations(provider);
  });
  disposeAfterAll(() => [provider, own, vault]);

  function run(operation: string, description: JsonObject): Promise<OperationResult> {
    return runOperation(getOperation(provider, operation), description);
  }

  function deploy(account: string, ...manifests: Manifest[]): Promise<OperationResult> {
    return run('deployManifest', { account, moniker: { app: 'shop' }, manifests });
  }

  /** A name that no other test uses. */
  function newName(): string {
    isUsed += 1;
    return `thing-${isUsed}`;
  }

  async function create(namespace: string, plural: string, object: Manifest): Promise<void> {
    await createLive(namespace, plural, object);
  }

  test.each([
    ['apply', {}],
    ['recreate', { 'strategy.spinnaker.io/recreate': 'true' }],
    ['replace', { 'strategy.spinnaker.io/replace': 'true' }],
    ['server-side apply', { 'strategy.spinnaker.io/server-side-apply': 'true' }],
  ])('a manifest without a namespace goes to the first of the account: %s', async (_how, strategy) => {
    const name = newName();
    const annotations = { ...unversioned, ...strategy };
    for (const value of ['1', '2']) {
      const { manifestNamesByNamespace } = await deploy(
        'own',
        createConfigMap(name, { value }, { annotations }),
      );
      expect(manifestNamesByNamespace).toEqual({ [own.name]: [`configMap ${name}`] });
    }
    expect(await findLive(own.name, `configmaps/${name}`)).toMatchObject({ data: { value: '2' } });
    expect(await findLive(vault.name, `configmaps/${name}`)).toBeUndefined();
  });

  test('so do versions, and names that are made up', async () => {
    const name = newName();
    await deploy('own', createConfigMap(name, { a: '1' }));
    await deploy('own', createConfigMap(name, { a: '2' }));
    expect(await findLive(own.name, `configmaps/${name}-v001`)).toMatchObject({ data: { a: '2' } });
    const made = await deploy('own', { ...createConfigMap('', {}), metadata: { generateName: `${name}-` } });
    expect(Object.keys(made.manifestNamesByNamespace)).toEqual([own.name]);
    expect(await findLive(vault.name, `configmaps/${name}-v000`)).toBeUndefined();
  });

  test('and a Job', async () => {
    const name = newName();
    const result = await run('runJob', {
      account: 'own',
      application: 'shop',
      manifest: createJob({ name }),
    });
    expect(result).toMatchObject({ deployedNamesByLocation: { [own.name]: [`job ${name}`] } });
    expect(await findLive(own.name, `jobs/${name}`)).toBeDefined();
    expect(await findLive(vault.name, `jobs/${name}`)).toBeUndefined();
  });

  test('where that is one which the account omits nothing at all is deployed', async () => {
    const name = newName();
    const first = createConfigMap(name, {}, { namespace: own.name, annotations: unversioned });
    const stray = createConfigMap(`${name}-stray`, {}, { annotations: unversioned });
    await expect(deploy('omitting', first, stray)).rejects.toThrow(
      `Deploying configMap ${name}-stray failed: the account may not use the namespace '${vault.name}' (omittedNamespace)`,
    );
    expect(await findLive(own.name, `configmaps/${name}`)).toBeUndefined();
    expect(await findLive(vault.name, `configmaps/${name}-stray`)).toBeUndefined();
    await deploy('omitting', first);
    expect(await findLive(own.name, `configmaps/${name}`)).toBeDefined();
  });

  test('deleting what labels select, without a namespace, deletes in the first of the account', async () => {
    const name = newName();
    const labels = { tier: name };
    for (const namespace of [own.name, vault.name]) {
      await create(namespace, 'configmaps', createConfigMap(name, {}, { labels }));
    }
    const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'tier', values: [name] }] };
    const description = { kinds: ['configMap'], labelSelectors, location: '' };
    await expect(run('deleteManifest', { account: 'omitting', ...description })).rejects.toThrow(
      `the account may not use the namespace '${vault.name}'`,
    );
    expect(await findLive(vault.name, `configmaps/${name}`)).toBeDefined();
    await run('deleteManifest', { account: 'own', ...description });
    expect(await findLive(own.name, `configmaps/${name}`)).toBeUndefined();
    expect(await findLive(vault.name, `configmaps/${name}`)).toBeDefined();
  });

  test.each<[string, JsonObject]>([
    ['deleteManifest', {}],
    ['patchManifest', { patchBody: { data: { a: '2' } }, options: { mergeStrategy: 'merge' } }],
    [
      'patchManifest',
      { patchBody: [{ op: 'replace', path: '/data/a', value: '2' }], options: { mergeStrategy: 'json' } },
    ],
  ])('%s by name, without a namespace, is about the first of the account', async (operation, more) => {
    const name = newName();
    for (const namespace of [own.name, vault.name]) {
      await create(namespace, 'configmaps', createConfigMap(name, { a: '1' }));
    }
    const description = { manifestName: `configMap ${name}`, location: '', ...more };
    await expect(run(operation, { account: 'omitting', ...description })).rejects.toThrow(
      `the account may not use the namespace '${vault.name}'`,
    );
    await run(operation, { account: 'own', ...description });
    expect((await findLive(own.name, `configmaps/${name}`))?.['data']).not.toEqual({ a: '1' });
    expect(await findLive(vault.name, `configmaps/${name}`)).toMatchObject({ data: { a: '1' } });
  });

  test('old versions of what was deployed without a namespace are those of the first one', async () => {
    const name = newName();
    const annotations = { 'strategy.spinnaker.io/max-version-history': '1' };
    const manifest = createConfigMap(name, { a: '1' }, { annotations });
    const { manifests } = await deploy('own', manifest);
    await deploy('own', createConfigMap(name, { a: '2' }, { annotations }));
    // Another team's versions of the same name, deployed into another namespace.
    const strangers = openProvider([
      { name: 'vault', kubeconfigFile: cluster.kubeconfig, namespaces: [vault.name] },
    ]);
    for (const a of ['1', '2']) {
      await runOperation(getOperation(strangers, 'deployManifest'), {
        ...{ account: 'vault', moniker: { app: 'shop' } },
        manifests: [createConfigMap(name, { a }, { annotations })],
      });
    }
    await strangers[Symbol.asyncDispose]();
    await run('cleanupArtifacts', { account: 'own', manifests: [...manifests] });
    expect(await findLive(own.name, `configmaps/${name}-v000`)).toBeUndefined();
    expect(await findLive(own.name, `configmaps/${name}-v001`)).toBeDefined();
    expect(await findLive(vault.name, `configmaps/${name}-v000`)).toBeDefined();
  });

  test('a name with a slash deletes nothing', async () => {
    for (const manifestName of [`namespace ${vault.name}/status`, `ns ${vault.name}/finalize`]) {
      const account = 'omitting';
      await expect(async () =>
        run('deleteManifest', { account, manifestName, location: '' }),
      ).rejects.toThrow("is not an object's name: expected a name without '/' and '%'");
    }
    expect(await findObject(`/api/v1/namespaces/${vault.name}`)).not.toHaveProperty(
      'metadata.deletionTimestamp',
    );
  });

  test('a Namespace that is none of the account is not found by labels, either', async () => {
    const value = newName();
    const path = `/api/v1/namespaces/${vault.name}`;
    await requestApi('PATCH', path, { metadata: { labels: { sought: value } } });
    for (const account of ['own', 'omitting']) {
      const result = await run('deleteManifest', {
        ...{ account, kinds: ['namespace'], location: '' },
        labelSelectors: { selectors: [{ kind: 'EQUALS', key: 'sought', values: [value] }] },
      });
      expect(result.manifestNamesByNamespace).toEqual({ '': [] });
      expect(await findObject(path)).not.toHaveProperty('metadata.deletionTimestamp');
    }
    const patched = await run('patchManifest', {
      ...{ account: 'own', manifestName: `namespace ${own.name}`, location: '' },
      ...{ patchBody: { metadata: { labels: { seen: 'yes' } } }, options: { mergeStrategy: 'merge' } },
    });
    expect(patched.manifestNamesByNamespace).toEqual({ '': [`namespace ${own.name}`] });
  });

  test('kinds that live in no namespace are refused before anything is sent, custom ones, too', async () => {
    const suffix = own.name.replaceAll('-', '');
    for (const kind of [`Told${suffix}`, `Untold${suffix}`]) {
      const plural = kind.toLowerCase();
      await using _definition = await defineKind(createDefinition(plural, kind, 'Cluster'));
      const name = newName();
      const first = createConfigMap(name, {}, { annotations: unversioned });
      const custom = createManifest('stable.example.com/v1', kind, { name, more: { spec: { size: 1 } } });
      const path = `/apis/stable.example.com/v1/${plural}/${name}`;
      const refusal = `namespace-scoped account not allowed to access cluster-scoped kind: '${kind}.stable.example.com'`;
      await expect.poll(() => findObject(path.slice(0, -name.length - 1))).toBeDefined();

      await expect(deploy('closed', first, custom)).rejects.toThrow(refusal);
      expect(await findLive(own.name, `configmaps/${name}`)).toBeUndefined();
      expect(await findObject(path)).toBeUndefined();

      await deploy('own', custom);
      expect(await findObject(path)).toBeDefined();
      const manifestName = `${kind}.stable.example.com ${name}`;
      await expect(run('deleteManifest', { account: 'closed', manifestName })).rejects.toThrow(refusal);
      await run('deleteManifest', { account: 'own', manifestName });
      expect(await findObject(path)).toBeUndefined();
    }
  });

  test('where they are allowed they work as ever', async () => {
    const name = `role-of-${own.name}`;
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name, more: { rules: [] } });
    await deploy('own', role);
    expect(await findObject(`${rbac}/${name}`)).toBeDefined();
    await run('deleteManifest', { account: 'own', manifestName: `clusterRole ${name}` });
    expect(await findObject(`${rbac}/${name}`)).toBeUndefined();
  });

  test('a Secret of another namespace is not to be had by a patch', async () => {
    const name = newName();
    await create(vault.name, 'secrets', createSecret(name, 'planted'));
    const description = {
      ...{ manifestName: `secret ${name}`, location: vault.name },
      ...{ patchBody: { metadata: { labels: { a: 'b' } } }, options: { mergeStrategy: 'merge' } },
    };
    for (const account of ['own', 'closed', 'omitting']) {
      expect(() => getOperation(provider, 'patchManifest').prepare({ account, ...description })).toThrow(
        /\.(wrong|omitted)Namespace$/,
      );
    }
  });

  async function defineKind(definition: Manifest): Promise<AsyncDisposable> {
    const { metadata } = (await requestApi('POST', definitions, definition)) as {
      metadata: { name: string };
    };
    return {
      async [Symbol.asyncDispose]() {
        await requestApi('DELETE', `${definitions}/${metadata.name}`);
      },
    };
  }
});

import { afterAll, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { readManifest, toSet } from '#test/support/providers/provider-set.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { definitions } from '../live.ts';
import { createDefinition, createManifest, type ManifestParts } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, type OperationResult, runOperation } from './task-run.ts';

const group = 'stable.example.com';

/** A kind of a test's own. */
interface TestKind {
  readonly kind: string;
  readonly plural: string;
  readonly definition: Manifest;
  /** `Kind.group`. */
  readonly fullKind: string;
  create(name: string, parts?: ManifestParts): Manifest;
}

function createKind(ns: TestNamespace, scope: 'Namespaced' | 'Cluster', letter = 'X'): TestKind {
  const kind = letter + ns.name.replaceAll('-', '');
  const plural = kind.toLowerCase();
  return {
    ...{ kind, plural, definition: createDefinition(plural, kind, scope), fullKind: `${kind}.${group}` },
    create: (name, parts = {}) =>
      createManifest(`${group}/v1`, kind, { more: { spec: { size: 1 } }, ...parts, name }),
  };
}

describeWithCluster('custom kinds', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  const made: string[] = [];
  afterAll(async () => {
    await Promise.all(
      made.map((name) => requestApi('DELETE', `${definitions}/${name}`).catch(() => undefined)),
    );
    await provider[Symbol.asyncDispose]();
  });

  interface Deploy {
    readonly via?: Provider;
    readonly account?: string;
    readonly more?: JsonObject;
    readonly record?: ReturnType<typeof emptyRecord>;
  }

  function deploy(manifests: readonly Manifest[], options: Deploy = {}): Promise<OperationResult> {
    const { via = provider, account = 'test', more, record } = options;
    const description = { account, moniker: { app: 'shop' }, manifests: [...manifests], ...more };
    made.push(
      ...manifests
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map((each) => String(getPath(each, 'metadata', 'name'))),
    );
    return runOperation(getOperation(via, 'deployManifest'), description, { ...(record && { record }) });
  }

  /** Somebody else defines the kind. It is served when this ends. */
  async function install({ definition, plural }: TestKind): Promise<void> {
    await requestApi('POST', definitions, definition);
    made.push(`${plural}.${group}`);
    await expect.poll(() => findObject(`/apis/${group}/v1/${plural}`)).toBeDefined();
    // A discovery document may be a moment behind.
    const isListed = async () =>
      JSON.stringify(await requestApi('GET', `/apis/${group}/v1`)).includes(plural);
    await expect.poll(isListed).toBe(true);
  }

  function remove(manifestName: string, location = ''): Promise<OperationResult> {
    return runOperation(getOperation(provider, 'deleteManifest'), {
      ...{ account: 'test', manifestName, location },
    });
  }

  const countDiscoveries = ({ calls }: ApiProxy) => calls.filter(({ path }) => path === '/apis').length;

  test('come and go with their definitions, without a restart, and may come back with another scope', async () => {
    await using ns = await createNamespace();
    const first = createKind(ns, 'Namespaced');
    const one = first.create('one', { namespace: ns.name });
    await expect(deploy([one])).rejects.toThrow(`no matches for kind "${first.kind}"`);
    expect((await deploy([one, first.definition])).manifestNamesByNamespace).toEqual({
      '': [`customResourceDefinition ${first.plural}.${group}`],
      [ns.name]: [`${first.fullKind} one`],
    });
    await remove(`customResourceDefinition ${first.plural}.${group}`);
    await expect(deploy([one])).rejects.toThrow('does not serve');

    const second = createKind(ns, 'Cluster');
    const result = await deploy([second.create('two', { namespace: ns.name }), second.definition]);
    expect(result.manifestNamesByNamespace['']).toContain(`${second.fullKind} two`);
    expect(await findObject(`/apis/${group}/v1/${second.plural}/two`)).toBeDefined();
    expect((await remove(`${second.fullKind.toUpperCase()} two`)).manifestNamesByNamespace).toEqual({
      '': [`${second.fullKind.toUpperCase()} two`],
    });
    expect(await findObject(`/apis/${group}/v1/${second.plural}/two`)).toBeUndefined();
  });

  test('that a deploy defines are waited for longer than 15 seconds', async () => {
    await using ns = await createNamespace();
    const { definition, fullKind, plural, create } = createKind(ns, 'Namespaced');
    const clock = createTestClock();
    let missedMs = 0;
    await using proxy = await startApiProxy(cluster, {
      refuse({ path }) {
        const isServed = !path.startsWith(`/apis/${group}/`) || !path.includes(plural) || missedMs >= 15_000;
        if (isServed) return undefined;
        missedMs += 5_000;
        clock.advance(5_000);
        return 404;
      },
    });
    await using via = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }], { clock });
    const result = await deploy([definition, create('one', { namespace: ns.name })], { via });
    expect(missedMs).toBe(15_000);
    expect(result.manifestNamesByNamespace).toMatchObject({ [ns.name]: [`${fullKind} one`] });
  });

  test('cost a discovery when one is met for the first time, and none after', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    await using counted = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const via = counted;
    const [early, late] = [createKind(ns, 'Namespaced', 'E'), createKind(ns, 'Namespaced', 'L')];
    const counts: number[] = [];
    const count = async (manifests: readonly Manifest[]) => {
      proxy.calls.length = 0;
      await deploy(manifests, { via });
      counts.push(countDiscoveries(proxy));
    };
    await deploy([early.definition], { via });
    await count([early.create('one', { namespace: ns.name })]);
    expect(counts).toEqual([expect.toSatisfy((found: number) => found >= 1)]);
    await count([early.create('one', { namespace: ns.name })]);
    await count([early.create('two', { namespace: ns.name, more: { spec: { size: 2 } } })]);
    expect(counts.slice(1)).toEqual([0, 0]);
    // Somebody else installs another one meanwhile: a miss looks again.
    await install(late);
    await count([late.create('one', { namespace: ns.name })]);
    expect(counts[3]).toBe(1);
    await count([late.create('two', { namespace: ns.name })]);
    expect(counts[4]).toBe(0);
  });

  test('are what the configuration of their account says, and that account alone', async () => {
    await using ns = await createNamespace();
    const custom = createKind(ns, 'Namespaced');
    const { fullKind, plural, create } = custom;
    const accounts = [
      { name: 'plain', kubeconfigFile: cluster.kubeconfig },
      {
        ...{ name: 'told', kubeconfigFile: cluster.kubeconfig },
        customResources: [
          { kubernetesKind: fullKind, spinnakerKind: 'serverGroups', deployPriority: '10', versioned: true },
        ],
      },
    ];
    await using both = openProvider(accounts);
    const via = both;
    await install(custom);
    const role = createManifest('rbac.authorization.k8s.io/v1', 'Role', {
      ...{ name: 'some', namespace: ns.name, more: { rules: [] } },
    });
    const manifests = [role, create('one', { namespace: ns.name })];
    const record = emptyRecord();
    const told = await deploy(manifests, { via, account: 'told', record });
    expect(told.createdArtifacts).toMatchObject([
      { type: `kubernetes/${fullKind}`, name: 'one', version: 'v000', reference: 'one-v000' },
      { type: 'kubernetes/role', name: 'some', version: '' },
    ]);
    expect(listHistory(record)).toContain(`Order of deployment: ${fullKind} one, role some`);
    const plain = await deploy(manifests, { via, account: 'plain' });
    expect(plain.createdArtifacts).toMatchObject([{ name: 'some' }, { name: 'one', version: '' }]);
    const live = await findObject(`/apis/${group}/v1/namespaces/${ns.name}/${plural}/one-v000`);
    expect(live).toMatchObject({ metadata: { annotations: { 'moniker.spinnaker.io/sequence': '0' } } });
    const maps = toSet(both).accounts.map(({ details }) => getPath(details, 'spinnakerKindMap', fullKind));
    expect(maps).toEqual([undefined, 'serverGroups']);
  });

  test.each([
    { who: 'the cluster', customResources: (): JsonObject[] => [] },
    {
      who: 'the configuration',
      customResources: (kubernetesKind: string): JsonObject[] => [{ kubernetesKind, namespaced: false }],
    },
  ])(
    'live in no namespace where $who says so, whatever the request overrides',
    async ({ customResources }) => {
      await using ns = await createNamespace();
      const custom = createKind(ns, 'Cluster');
      const { fullKind, create } = custom;
      await install(custom);
      const told = {
        name: 'test',
        kubeconfigFile: cluster.kubeconfig,
        customResources: customResources(fullKind),
      };
      await using via = openProvider([told]);
      const result = await deploy([create('one')], { via, more: { namespaceOverride: ns.name } });
      expect(result.manifestNamesByNamespace).toEqual({ '': [`${fullKind} one`] });
      expect(result.createdArtifacts).toMatchObject([{ location: '' }]);
    },
  );

  test('may have any spec, a list as well, and no artifacts are bound in it', async () => {
    await using ns = await createNamespace();
    const { definition, fullKind, plural, create } = createKind(ns, 'Namespaced');
    const template = { metadata: {}, spec: { containers: [{ name: 'main', image: 'registry.test/web' }] } };
    const specs = [[{ image: 'registry.test/web' }], 'text', 7, { template }];
    const objects = specs.map((spec, index) =>
      create(`spec-${index}`, { namespace: ns.name, more: { spec } as JsonObject }),
    );
    const optionalArtifacts = [{ type: 'docker/image', name: 'registry.test/web', reference: 'bound:1' }];
    const result = await deploy([definition, ...objects], { more: { optionalArtifacts } });
    expect(result.boundArtifacts).toEqual([]);
    for (const [index, spec] of specs.entries()) {
      const path = `/apis/${group}/v1/namespaces/${ns.name}/${plural}/spec-${index}`;
      expect(await findObject(path)).toMatchObject({ spec });
      expect(JSON.stringify(await findObject(path))).not.toContain('bound:1');
    }
    const read = await readManifest(provider, {
      ...{
        account: 'test',
        location: ns.name,
        name: `${fullKind} spec-0`,
        includeEvents: false,
        revealSecrets: false,
      },
    });
    expect(read).toMatchObject({ status: { stable: { state: true } }, artifacts: [] });
  });

  test('a definition whose spec is a list is refused by the API server, and crashes nothing', async () => {
    await using ns = await createNamespace();
    const { definition, create } = createKind(ns, 'Namespaced');
    const broken = { ...definition, spec: [{ group }] };
    const manifests = [broken, create('one')];
    await expect(deploy(manifests, { more: { namespaceOverride: ns.name } })).rejects.toThrow(
      /^Deploying customResourceDefinition .* failed: /,
    );
  });
});

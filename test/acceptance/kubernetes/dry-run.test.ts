import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { type ApiProxy, type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';

describeWithCluster('a dry run', (cluster) => {
  let namespace: TestNamespace;
  let proxy: ApiProxy;
  let system: System;
  const writes: PassingCall[] = [];
  beforeAll(async () => {
    namespace = await createNamespace('dry');
    const getFault = (call: PassingCall) => {
      if (!['GET', 'HEAD'].includes(call.method)) writes.push(call);
      return undefined;
    };
    proxy = await startApiProxy(cluster, { getFault });
    const accounts = [{ name: 'dry', kubeconfigFile: proxy.kubeconfig }];
    system = await startSystem({ settings: { kubernetes: { accounts } } });
    await run([deploy([workload(1), secret('alpha-alpha'), configMap('settings', { a: '1' })])]);
  });
  afterAll(async () => {
    for (const each of [system, proxy, namespace]) await each?.[Symbol.asyncDispose]();
  });

  async function run(operations: readonly object[], isDryRun = false): Promise<SystemTask> {
    writes.length = 0;
    const response = await system.fetch(`/kubernetes/ops${isDryRun ? '?dryRun=true' : ''}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operations),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    return system.waitForTask(JSON.parse(text).id);
  }

  /** Runs it dry. What it would change, and the differences by the names of objects. */
  async function tryOut(operations: readonly object[]) {
    const before = await listVersions();
    const events = (await system.readEvents()).length;
    const task = await run(operations, true);
    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(writes.filter((call) => !isDry(call))).toEqual([]);
    expect(await listVersions()).toEqual(before);
    await system.idle();
    const told = (await system.readEvents()).slice(events);
    expect(told.filter(({ 'detail-type': type }) => type.startsWith('Task'))).toEqual([]);
    const { outputs, resultObjects, history } = task as SystemTask & { outputs: JsonObject[] };
    const diffs = Object.fromEntries(
      outputs.map((each) => [String(each['manifest']), String(each['stdOut'])]),
    );
    const { changes } = (resultObjects[0] as { dryRun: { changes: JsonObject[] } }).dryRun;
    return { changes, diffs, text: JSON.stringify(task), history: history.map(({ status }) => status) };
  }

  /** Versions of all that these tests write. */
  async function listVersions(): Promise<object> {
    const plurals = ['api/v1/NS/configmaps', 'api/v1/NS/secrets', 'apis/apps/v1/NS/deployments'];
    const lists = plurals.map((each) =>
      requestApi('GET', `/${each.replace('NS', `namespaces/${namespace.name}`)}`),
    );
    const found = (await Promise.all(lists)) as unknown as { items: { metadata: JsonObject }[] }[];
    return found.flatMap(({ items }) =>
      items.map(({ metadata }) => [metadata['name'], metadata['generation']]),
    );
  }

  const toManifest = (
    [apiVersion, kind, name]: readonly [string, string, string],
    more: object,
    annotations = {},
  ) => ({ apiVersion, kind, metadata: { name, namespace: namespace.name, annotations }, ...more });
  const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };
  const configMap = (name: string, data: object, annotations = {}) =>
    toManifest(['v1', 'ConfigMap', name], { data }, annotations);
  const secret = (stringData: string) =>
    toManifest(
      ['v1', 'Secret', 'password'],
      { data: { key: btoa(stringData), other: btoa('same-same') } },
      unversioned,
    );
  const workload = (tag: number) => {
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: `example.invalid/web:${tag}` }] },
    };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template };
    return toManifest(['apps/v1', 'Deployment', 'web'], { spec });
  };
  const deploy = (manifests: readonly object[]) => ({
    deployManifest: { account: 'dry', moniker: { app: 'shop' }, manifests },
  });

  test('of a deploy shows what would be created, changed and kept, without the values of Secrets', async () => {
    const { changes, diffs, text } = await tryOut([
      deploy([
        workload(2),
        secret('beta-beta'),
        configMap('settings', { a: '2' }),
        configMap('settings', { a: '1' }),
      ]),
    ]);
    const at = { namespace: namespace.name };
    expect(changes).toEqual([
      { action: 'change', kind: 'secret', name: 'password', ...at },
      { action: 'create', kind: 'configMap', name: 'settings-v001', ...at },
      { action: 'change', kind: 'deployment', name: 'web', ...at },
    ]);
    expect(diffs['deployment web']).toMatch(/^--- live\/deployment\/.+\n\+\+\+ merged\/deployment\//);
    expect(diffs['deployment web']).toMatch(
      /\n-.*image: example\.invalid\/web:1\n\+.*image: example\.invalid\/web:2\n/,
    );
    expect(diffs['secret password']).toContain('\n-  key: "****** (before)"\n+  key: "****** (after)"\n');
    for (const value of ['alpha-alpha', 'beta-beta', 'same-same'])
      for (const form of [value, btoa(value)]) expect(text).not.toContain(form);
    expect(diffs['configMap settings-v001']).toContain('\n+  a: "2"\n');
  });

  test('of what is there already shows that nothing would change', async () => {
    const { changes, diffs, history } = await tryOut([deploy([workload(1)])]);
    expect([changes, diffs]).toEqual([[], {}]);
    expect(history).toContain('deployment web: unchanged');
  });

  test('says what cannot be tried, since the same request makes what it needs', async () => {
    const [shop, group] = [`${namespace.name}-shop`, `${namespace.name}.example.com`];
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: `trams.${group}` },
      spec: {
        ...{ group, scope: 'Namespaced', names: { plural: 'trams', singular: 'tram', kind: 'Tram' } },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const inShop = {
      ...configMap('first', { a: '1' }, unversioned),
      metadata: { name: 'first', namespace: shop },
    };
    const { changes } = await tryOut([
      deploy([
        definition,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shop } },
        inShop,
        toManifest([`${group}/v1`, 'Tram', 'one'], {}),
      ]),
    ]);
    expect(changes).toMatchObject([
      { action: 'create', kind: 'namespace', name: shop },
      { action: 'create', kind: 'customResourceDefinition' },
      { action: 'create', kind: 'configMap', untried: `needs namespace ${shop}` },
      { action: 'create', name: 'one', untried: `needs customResourceDefinition trams.${group}` },
    ]);
  });

  test('of an object that would be deleted first, of a deletion, a scale and a patch', async () => {
    const recreated = configMap(
      'settings-v000',
      { a: '3' },
      { ...unversioned, 'strategy.spinnaker.io/recreate': 'true' },
    );
    const target = { account: 'dry', location: namespace.name, manifestName: 'deployment web' };
    const { changes, diffs } = await tryOut([
      deploy([recreated]),
      { scaleManifest: { ...target, replicas: 7 } },
      {
        patchManifest: {
          ...target,
          patchBody: { metadata: { labels: { patched: 'yes' } } },
          options: { mergeStrategy: 'merge', record: false },
        },
      },
      { deleteManifest: { ...target, manifestName: 'secret password' } },
    ]);
    expect(changes).toMatchObject([{ action: 'replace', kind: 'configMap', name: 'settings-v000' }]);
    expect(diffs['configMap settings-v000']).toContain('\n+  a: "3"\n');
    expect(diffs['secret password']).toMatch(/\n-kind: Secret\n/);
    expect(diffs['deployment web']).toContain('\n+    patched: "yes"\n');
  });

  test('fails as the operation would, and is refused where there is none', async () => {
    const wrong = toManifest(['apps/v1', 'Deployment', 'wrong'], { spec: { replicas: 1 } });
    const failed = await run([deploy([wrong])], true);
    expect(failed.status.failed).toBe(true);
    expect(JSON.stringify(failed.resultObjects)).toContain('spec.selector');
    const refused = await system.fetch('/kubernetes/ops?dryRun=true', {
      method: 'POST',
      body: JSON.stringify([
        { rollingRestartManifest: { account: 'dry', location: 'x', manifestName: 'deployment web' } },
      ]),
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(
      "there is no dry run of 'rollingRestartManifest' of provider 'kubernetes'; of these there is one: deployManifest",
    );
  });
});

/** Whether the API server stores nothing of a call. */
function isDry({ query, body }: PassingCall): boolean {
  const { dryRun } = (body ?? {}) as { dryRun?: unknown };
  return new URLSearchParams(query).get('dryRun') === 'All' || JSON.stringify(dryRun) === '["All"]';
}

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  type ApiProxy,
  type Fault,
  type PassingCall,
  startApiProxy,
} from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** Of this file alone: the cluster is shared with others. */
const application = 'awayshop';
/** What Deck shows, and Secrets besides. */
const cacheKinds = ['deployment', 'replicaSet', 'pod', 'service', 'networkPolicy', 'secret'];
const plantedSecret = 'planted-away-4711';
const deck = { 'X-SPINNAKER-USER-ORIGIN': 'deck' };

describeWithCluster('manifests of a cluster that is away', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let proxy: ApiProxy;
  let system: System;
  let getFault: (call: PassingCall) => Fault | undefined = () => undefined;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('away'));
    await fillNamespace(namespace.name);
    proxy = stack.use(await startApiProxy(cluster, { getFault: (call) => getFault(call) }));
    const account = { kubeconfigFile: proxy.kubeconfig, namespaces: [namespace.name] };
    const accounts = [
      { ...account, name: 'test' },
      { ...account, name: 'closed', permissions: { READ: ['ops'], WRITE: ['ops'] } },
    ];
    system = stack.use(await startSystem({ settings: { kubernetes: { accounts, cache: { cacheKinds } } } }));
    const isCached = async () => {
      const pods = await system.fetch(`/search?q=${namespace.name}&type=pod`);
      const [{ totalMatches }] = (await pods.json()) as [{ totalMatches: number }];
      expect(totalMatches).toBe(1);
    };
    await vi.waitFor(isCached, { timeout: 120_000, interval: 250 });
  });

  afterAll(() => stack.disposeAsync());

  function read(name: string, headers: Record<string, string>, account = 'test'): Promise<Response> {
    return system.fetch(`/manifests/${account}/${namespace.name}/${encodeURIComponent(name)}`, { headers });
  }

  async function readFromCache(name: string): Promise<JsonObject> {
    const response = await read(name, deck);
    expect([name, response.status]).toEqual([name, 200]);
    return (await response.json()) as JsonObject;
  }

  it('are read live as long as it is there', async () => {
    const response = await read('deployment web', deck);

    expect(response.headers.get('age')).toBeNull();
    expect(await response.json()).toMatchObject({ manifest: { spec: { strategy: expect.anything() } } });
  });

  it('come from the cache for Deck, with their age and a Warning', async () => {
    getFault = () => ({ type: 'reset', when: 'before' });

    const response = await read('Deployment web', deck);
    const text = await response.text();
    const view = JSON.parse(text) as { events: JsonObject[] };

    expect(response.status).toBe(200);
    expect(Number(response.headers.get('age'))).toBeLessThan(120);
    expect(Date.parse(response.headers.get('x-busdriver-as-of') ?? '')).toBeGreaterThan(0);
    expect(response.headers.get('x-busdriver-lag')).toMatch(/^test=/);
    expect(view).toMatchObject({
      account: 'test',
      name: 'deployment web',
      location: namespace.name,
      moniker: { app: application },
      manifest: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: namespace.name, labels: { app: 'web' } },
        status: { conditions: [] },
      },
      status: {
        stable: { state: false, message: expect.stringMatching(/^Unknown: .* as of \d{4}-/) },
        failed: { state: false },
        paused: { state: false },
        available: { state: false },
      },
      warnings: [],
    });
    expect(view.events).toEqual([
      expect.objectContaining({
        type: 'Warning',
        reason: 'ReadFromCache',
        message: expect.stringMatching(
          /^This comes from the cache, as of \d{4}-.* s ago\. Failed to read manifest: /,
        ),
      }),
    ]);
  });

  it('have what Deck reads of each kind', async () => {
    const [pod] = (
      (await (await system.fetch(`/search?q=${namespace.name}&type=pod`)).json()) as [
        { results: { name: string }[] },
      ]
    )[0].results;

    const view = await readFromCache(pod?.name ?? '');
    const { metadata } = view['manifest'] as { metadata: { ownerReferences: { name: string }[] } };
    const [owner] = metadata.ownerReferences;
    expect(view).toMatchObject({
      manifest: {
        kind: 'Pod',
        spec: { containers: [{ name: 'main' }] },
        status: { conditions: [], containerStatuses: expect.anything() },
        metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: expect.stringMatching(/^web-/) }] },
      },
      metrics: [],
    });
    expect(await readFromCache('service web')).toMatchObject({
      manifest: { kind: 'Service', spec: { selector: { app: 'web' } }, status: { loadBalancer: {} } },
    });
    expect(await readFromCache('networkPolicy deny')).toMatchObject({
      manifest: { kind: 'NetworkPolicy', spec: {} },
    });
    const response = await read(`replicaSet ${owner?.name}`, deck);
    const text = await response.text();
    expect(text).toContain('"replicas":1.0');
    expect(JSON.parse(text)).toMatchObject({
      manifest: { spec: { template: { spec: { containers: [{ image: 'example.invalid/web:1.0' }] } } } },
      artifacts: [{ type: 'docker/image', reference: 'example.invalid/web:1.0' }],
    });
  });

  it('have no value of a Secret, even for who may read it', async () => {
    const response = await read('secret code', deck);
    const text = await response.text();

    expect(response.status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      manifest: { kind: 'Secret', metadata: { name: 'code' }, spec: {} },
      events: [{ message: expect.stringMatching(/all data and values of ConfigMaps and Secrets\.$/) }],
    });
    expect(text).not.toContain(plantedSecret);
    expect(text).not.toContain(Buffer.from(plantedSecret).toString('base64'));
    expect(text).not.toContain('"data"');
  });

  it.each([
    ['Orca, whoever began the execution', { ...deck, 'X-SPINNAKER-EXECUTION-ID': '01J' }],
    [
      'Orca, whatever it accepts',
      { 'Cache-Control': 'stale-if-error=600', 'X-SPINNAKER-EXECUTION-ID': '01J' },
    ],
    ['an execution told by its type', { ...deck, 'X-SPINNAKER-EXECUTION-TYPE': 'pipeline' }],
    ['who does not say who asks', {}],
    ['who calls through the API of Gate', { 'X-SPINNAKER-USER-ORIGIN': 'api' }],
    ['who wants it fresh', { ...deck, 'Cache-Control': 'no-cache' }],
    ['who accepts only what is younger', { 'Cache-Control': 'stale-if-error=0' }],
  ])('are not shown to %s', async (_, headers: Record<string, string>) => {
    const response = await read('deployment web', headers);

    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      message: expect.stringMatching(/^Failed to read manifest/),
    });
  });

  it('are shown to who accepts old answers in the place of errors', async () => {
    const response = await read('deployment web', { 'Cache-Control': 'stale-if-error=600' });

    expect(response.status).toBe(200);
    expect(response.headers.get('age')).not.toBeNull();
  });

  it('ask for the same rights', async () => {
    expect((await read('deployment web', deck, 'closed')).status).toBe(403);
    const member = { ...deck, 'X-SPINNAKER-USER': 'amy', 'X-SPINNAKER-ACCOUNTS': 'closed' };
    expect((await read('deployment web', member, 'closed')).status).toBe(200);
  });

  it('fail where the cache has nothing', async () => {
    expect((await read('configMap none', deck)).status).toBe(500);
    expect((await read('deployment none', deck)).status).toBe(500);
  });

  it('are never deployed as they are', async () => {
    const { manifest } = await readFromCache('service web');
    const deploy = { account: 'test', moniker: { app: application }, manifests: [manifest] };
    const response = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ deployManifest: deploy }]),
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        expect.stringMatching(
          /^service web: the annotation 'busdriver\.io\/incomplete' says .* read it again/,
        ),
      ],
    });
  });

  it('come soon, too, where it is alive and this read hangs', async () => {
    const hung = { type: 'latency', ms: 60_000 } as const;
    getFault = ({ path }) => (path.endsWith('/services/web') ? hung : undefined);

    // A function that waited for the read until its time was over would answer 504.
    expect((await read('service web', deck)).status).toBe(200);
  });

  it('are read live again when it is back', async () => {
    getFault = () => undefined;

    await vi.waitFor(async () => expect((await read('deployment web', deck)).headers.get('age')).toBeNull(), {
      timeout: 60_000,
      interval: 500,
    });
  });
});

async function fillNamespace(namespace: string): Promise<void> {
  const labels = { app: 'web' };
  const annotations = { 'moniker.spinnaker.io/application': application };
  const metadata = { namespace, name: 'web', labels, annotations };
  const spec = { containers: [{ name: 'main', image: 'example.invalid/web:1.0' }] };
  await requestApi('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec },
    },
  });
  await requestApi('POST', `/api/v1/namespaces/${namespace}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await requestApi('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, name: 'code' },
    stringData: { code: plantedSecret },
  });
  await requestApi('POST', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, name: 'deny' },
    spec: { podSelector: {} },
  });
}

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

/** Of this file alone: the cluster is shared with others. */
const application = 'cachedshop';

describeWithCluster('load balancers, pods, security groups, searches and projects', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let front50: Front50;
  let system: Subject;
  let pod: Pod['metadata'];

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('cached'));
    pod = (await fillNamespace(namespace.name)).metadata;
    front50 = stack.use(
      await startFront50({
        applications: [
          { name: application.toUpperCase(), email: 'shop@example.com' },
          { name: 'CACHEDOTHER', email: 'other@example.com' },
        ],
        projects: [
          {
            id: 'p1',
            name: 'Cached Project',
            config: {
              applications: [application],
              clusters: [{ account: 'test', stack: '*', detail: '*', applications: null }],
            },
          },
        ],
      }),
    );
    const account = { name: 'test', kubeconfigFile: cluster.kubeconfig, onlySpinnakerManaged: true };
    const services = { front50: { baseUrl: front50.url } };
    system = stack.use(await startSubject({ settings: { kubernetes: { accounts: [account] }, services } }));
    // The lag is known once everything was listed. Another test may have had an account of this name, with what it saw still cached.
    const path = `/instances/test/${namespace.name}/${encodeURIComponent(`pod ${pod.name}`)}`;
    const isCached = async () => {
      const { status, headers } = await system.fetch(path);
      expect({ status, lag: headers.get('x-busdriver-lag') }).toEqual({
        status: 200,
        lag: expect.stringMatching(/^test=\d+$/),
      });
    };
    await vi.waitFor(isCached, { timeout: 120_000, interval: 250 });
  });

  afterAll(() => stack.disposeAsync());

  async function getJson<T = JsonObject>(path: string): Promise<T> {
    const response = await system.fetch(path);
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  }

  async function getStatus(path: string): Promise<number> {
    return (await system.fetch(path)).status;
  }

  it('shows the services of an application with the pods behind them', async () => {
    const serverGroup = {
      name: 'replicaSet web-v001',
      account: 'test',
      region: namespace.name,
      isDisabled: false,
      detachedInstances: [],
      instances: [{ id: pod.uid, name: `pod ${pod.name}`, zone: namespace.name }],
    };
    const service = { name: 'service web', displayName: 'web', kind: 'service', serverGroups: [serverGroup] };

    expect(await getJson(`/applications/${application}/loadBalancers`)).toMatchObject([service]);
    const one = `/kubernetes/loadBalancers/test/${namespace.name}`;
    expect(await getJson(`${one}/service%20web`)).toMatchObject([service]);
    expect(await getJson(`${one}/service%20none`)).toEqual([]);
    expect(await getJson('/kubernetes/loadBalancers')).toEqual([]);
    expect(await getJson('/applications/nobody/loadBalancers')).toEqual([]);
    expect(await getStatus(`/oracle/loadBalancers/test/${namespace.name}/service%20web`)).toBe(400);
    expect(await getStatus('/oracle/loadBalancers')).toBe(400);
  });

  it('shows network policies in all forms', async () => {
    const summary = { name: 'networkPolicy deny', id: 'networkPolicy deny', moniker: {} };
    const { name } = namespace;

    expect(await getJson('/securityGroups')).toMatchObject({ test: { kubernetes: { [name]: [summary] } } });
    expect(await getJson('/securityGroups/test')).toMatchObject({ kubernetes: { [name]: [summary] } });
    expect(await getJson(`/securityGroups/test?region=${name}`)).toEqual({ kubernetes: [summary] });
    expect(await getJson('/securityGroups/test/kubernetes')).toMatchObject({ [name]: [summary] });
    expect(await getJson(`/securityGroups/test/kubernetes?region=${name}`)).toEqual([summary]);
    expect(await getJson('/securityGroups/test/kubernetes?region=none')).toEqual([]);
    expect(await getJson('/securityGroups/test/kubernetes/networkPolicy%20deny')).toMatchObject({
      [name]: [summary],
    });
    expect(await getJson('/securityGroups/test/oracle')).toEqual({});
    expect(await getJson('/securityGroups/nobody')).toEqual({});
    expect(await getJson(`/securityGroups/test/kubernetes/${name}/networkPolicy%20deny`)).toMatchObject({
      ...summary,
      accountName: 'test',
      application,
      inboundRules: [{ protocol: 'TCP', portRanges: [{ startPort: 80, endPort: 80 }] }],
      outboundRules: [],
    });
    expect(await getStatus(`/securityGroups/test/kubernetes/${name}/networkPolicy%20none`)).toBe(404);
    expect(await getStatus(`/securityGroups/test/oracle/${name}/networkPolicy%20deny`)).toBe(404);
  });

  it('shows a pod, and says how old that is', async () => {
    const response = await system.fetch(`/instances/test/${namespace.name}/pod%20${pod.name}`);

    expect(await response.json()).toMatchObject({
      name: pod.uid,
      humanReadableName: `pod ${pod.name}`,
      zone: namespace.name,
      moniker: { app: application },
      health: [{ source: 'Pod', platform: 'platform' }, expect.anything()],
    });
    expect(Number(response.headers.get('age'))).toBeLessThan(60);
    expect(response.headers.get('x-busdriver-lag')).toMatch(/^test=\d+$/);
    expect(await getStatus(`/instances/test/${namespace.name}/pod%20none`)).toBe(404);
    expect(await getStatus(`/instances/nobody/${namespace.name}/pod%20${pod.name}`)).toBe(404);
  });

  it('shows every object of an application', async () => {
    const found = await getJson<JsonObject[]>(`/applications/${application}/rawResources`);

    expect(found.map(({ name }) => name).sort()).toEqual(
      expect.arrayContaining(['networkPolicy deny', 'replicaSet web-v001', 'service web']),
    );
    expect(await getJson('/applications/nobody/rawResources')).toEqual([]);
  });

  it('finds objects, applications and projects by their names', async () => {
    const search = async (query: string) => {
      const [set] = await getJson<{ totalMatches: number; platform: string; results: JsonObject[] }[]>(
        `/search?${query}`,
      );
      return { ...set, names: set?.results.map(({ name }) => name) };
    };
    const types = 'type=serverGroups&type=instances,applications,projects';

    expect(await search(`q=CACHED&${types}&account=test`)).toMatchObject({
      platform: 'aws',
      totalMatches: expect.any(Number),
      names: expect.arrayContaining(['Cached Project', application, 'cachedother', 'replicaSet web-v001']),
    });
    const { results } = await search(`q=${application}&type=applications`);
    expect((await search(`q=${application}&type=`)).names).toEqual(
      expect.arrayContaining([application, 'replicaSet web-v001', 'Cached Project']),
    );
    expect((await search('q=web-v001&type=')).names).toContain(`pod ${pod.name}`);
    expect((await search('q=replicaset web&type=applications')).names).toContain(application);
    expect(results).toEqual([
      expect.objectContaining({ name: application, email: 'shop@example.com', provider: 'kubernetes' }),
    ]);
    const paged = `q=${namespace.name}&type=serverGroups,loadBalancers,securityGroups&platform=kubernetes&pageSize=2`;
    expect(await search(paged)).toMatchObject({ totalMatches: 3, platform: 'kubernetes' });
    expect((await search(`${paged}&page=2`)).names).toHaveLength(1);
    expect(await search('q=nothing-at-all&type=serverGroups')).toMatchObject({
      totalMatches: 0,
      results: [],
    });
    for (const wrong of ['q=web', 'q=web&type=serverGroups&page=0']) {
      expect(await getStatus(`/search?${wrong}`)).toBe(400);
    }
  });

  it('shows what runs in the clusters of a project, while Front50 is away too', async () => {
    const shown = [
      {
        account: 'test',
        stack: '*',
        detail: '*',
        applications: [
          {
            application,
            clusters: [
              {
                region: namespace.name,
                instanceCounts: { total: 1 },
                builds: [{ buildNumber: '0', images: ['example.invalid/web:1.0'] }],
              },
            ],
          },
        ],
        instanceCounts: { total: 1 },
      },
    ];
    expect(await getJson('/projects/cached%20project/clusters')).toMatchObject(shown);
    expect(await getStatus('/projects/unknown/clusters')).toBe(404);

    front50.instead = (_, response) => response.writeHead(500).end();
    expect(await getJson('/projects/P1/clusters')).toMatchObject(shown);
    expect(await getStatus('/search?q=cached&type=projects')).toBe(200);
    front50.instead = undefined;
  });

  it('fetches the templates of pipelines that Front50 has, as Orca asks for them', async () => {
    front50.templates.set('bake:stable', '{"schema": "v2", "id": "bake"}');
    const artifact = { type: 'front50/pipelineTemplate', artifactAccount: 'front50ArtifactCredentials' };
    const fetchTemplate = (reference: string) =>
      system.fetch('/artifacts/fetch/', { method: 'PUT', body: JSON.stringify({ ...artifact, reference }) });

    const response = await fetchTemplate('spinnaker://bake:stable');
    expect([response.status, await response.json()]).toEqual([200, { schema: 'v2', id: 'bake' }]);
    expect((await fetchTemplate('spinnaker://bake')).status).toBe(404);
    expect((await fetchTemplate('bake')).status).toBe(400);
    expect(await getJson('/artifacts/credentials')).toContainEqual({
      name: 'front50ArtifactCredentials',
      type: 'artifacts-front50',
      types: ['front50/pipelineTemplate'],
    });
  });

  it('tells the namespaces of accounts that name none', async () => {
    // Other suites make and delete namespaces between the two reads.
    await vi.waitFor(async () => {
      const [account] = await getJson<{ namespaces: string[] }[]>('/credentials?expand=true');

      expect(account?.namespaces).toContain(namespace.name);
      expect(await getJson('/credentials/test')).toMatchObject({ namespaces: account?.namespaces });
    }, 30_000);
  });

  it('tells what every agent is doing', async () => {
    const agents = await getJson<JsonObject[]>('/cache/introspection');

    expect(agents).toContainEqual(
      expect.objectContaining({
        provider: 'kubernetes',
        account: 'test',
        isStale: false,
        failures: 0,
        ageMs: expect.any(Number),
        nextRun: expect.any(Number),
        // Of an account that is followed now, the last run of before may have been stopped for it.
        lastRun: expect.objectContaining({
          outcome: expect.stringMatching(/^(SUCCESS|STOPPED)$/),
          lagMs: expect.any(Number),
        }),
      }),
    );
  });
});

/** Makes a ReplicaSet behind a service, and a network policy. @returns the ReplicaSet's pod. */
async function fillNamespace(namespace: string): Promise<Pod> {
  const labels = { app: 'web' };
  const metadata = {
    namespace,
    labels,
    annotations: {
      'moniker.spinnaker.io/application': application,
      'moniker.spinnaker.io/cluster': 'replicaSet web',
    },
  };
  const spec = { containers: [{ name: 'main', image: 'example.invalid/web:1.0' }] };
  const { annotations } = metadata;
  const core = `/api/v1/namespaces/${namespace}`;
  await requestApi('POST', `/apis/apps/v1/namespaces/${namespace}/replicasets`, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, name: 'web-v001' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec },
    },
  });
  await requestApi('POST', `${core}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, name: 'web' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await requestApi('POST', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, name: 'deny' },
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
  });
  return vi.waitFor(
    async () => {
      const { items } = (await requestApi('GET', `${core}/pods`)) as { items: Pod[] };
      const [pod] = items;
      if (pod === undefined) throw new Error('there is no pod yet');
      return pod;
    },
    { timeout: 30_000 },
  );
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
}

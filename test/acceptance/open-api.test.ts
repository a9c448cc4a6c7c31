import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { routes } from '../../functions/routes.ts';
import { root } from '../architecture/source-files.ts';
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '../support/cluster.ts';
import { type Front50, startFront50 } from '../support/front50.ts';
import { startSubject } from '../support/subject.ts';
import type { Subject } from '../support/system.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';

interface Call {
  readonly target: string;
  readonly body?: unknown;
}

const artifact = {
  type: 'embedded/base64',
  artifactAccount: 'embedded-artifact',
  reference: Buffer.from('kind: ConfigMap').toString('base64'),
};

// `system.fetch` holds every answer to the document; here each route is called, so that each is held.
describeWithCluster('the OpenAPI document', (cluster) => {
  let delayMs = 0;
  let dir: TempDir;
  let front50: Front50;
  let namespace: TestNamespace;
  let proxy: ApiProxy;
  let system: Subject;
  let taskId: string;

  beforeAll(async () => {
    namespace = await createNamespace('open-api');
    proxy = await startApiProxy(cluster, { getDelayMs: () => delayMs });
    front50 = await startFront50({ projects: [{ name: 'shop', config: { applications: ['shop'] } }] });
    dir = await makeTempDir();
    const config = join(dir.path, 'clouddriver.yml');
    const account = { name: 'test', kubeconfigFile: proxy.kubeconfig };
    const services = { front50: { baseUrl: front50.url } };
    await writeFile(config, JSON.stringify({ kubernetes: { accounts: [account] }, services }));
    system = await startSubject({ config: [config] });
    taskId = await system.postOperations([{ deployManifest: toDeploy() }], { clientRequestId: 'first' });
    const task = await system.waitForTask(taskId);
    expect(task.status).toMatchObject({ failed: false });
    // An account that is new is cached with the scheduler's next turn, its pods last.
    const pod = `/instances/test/${namespace.name}/pod%20frontend-v000`;
    const isCached = async () => expect((await system.fetch(pod)).status).toBe(200);
    await vi.waitFor(isCached, { timeout: 120_000, interval: 500 });
  });

  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await front50?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
  });

  it('is what GET /v3/api-docs answers', async () => {
    const response = await system.fetch('/v3/api-docs');

    expect(await response.json()).toEqual(
      JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8')),
    );
  });

  it.each(routes.map(({ method, path }) => ({ method, path })))(
    'has what $method $path answers',
    async ({ method, path }) => {
      const { target, body } = await findCall(`${method} ${path}`);
      const response = await system.fetch(target, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
    },
  );

  /** A request that succeeds. */
  async function findCall(route: string): Promise<Call> {
    const cluster = `/manifests/test/${namespace.name}/replicaSet/cluster/shop/replicaSet%20frontend`;
    const scale = toScale();
    const job = route.includes('/jobs/') ? await runJob() : '';
    const calls: { readonly [route: string]: Call } = {
      ...listClusterCalls(),
      ...listEmptyCalls(),
      'GET /applications/{application}/loadBalancers': { target: '/applications/shop/loadBalancers' },
      'GET /applications/{application}/rawResources': { target: '/applications/shop/rawResources' },
      'GET /{cloudProvider}/loadBalancers': { target: '/kubernetes/loadBalancers' },
      'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}': {
        target: `/kubernetes/loadBalancers/test/${namespace.name}/service%20frontend`,
      },
      'GET /securityGroups': { target: '/securityGroups' },
      'GET /securityGroups/{account}': { target: '/securityGroups/test' },
      'GET /securityGroups/{account}/{cloudProvider}': {
        target: `/securityGroups/test/kubernetes?region=${namespace.name}`,
      },
      'GET /securityGroups/{account}/{cloudProvider}/{region}': {
        target: '/securityGroups/test/kubernetes/networkPolicy%20deny',
      },
      'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}': {
        target: `/securityGroups/test/kubernetes/${namespace.name}/networkPolicy%20deny`,
      },
      'GET /instances/{account}/{region}/{id}': {
        target: `/instances/test/${namespace.name}/pod%20frontend-v000`,
      },
      'GET /search': { target: '/search?q=front&type=serverGroups,applications,projects' },
      'GET /projects/{project}/clusters': { target: '/projects/shop/clusters' },
      'GET /cache/introspection': { target: '/cache/introspection' },
      'GET /applications/{application}/jobs/{account}/{location}/{id}': { target: job },
      'POST /applications/{application}/jobs/{account}/{location}/{id}': { target: job },
      'GET /applications/{application}/jobs/{account}/{location}/{id}/{fileName}': { target: `${job}/main` },
      'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': {
        target: `/applications/shop/kubernetes/pods/test/${namespace.name}/smoke/main`,
      },
      'DELETE /applications/{application}/jobs/{account}/{location}/{id}': { target: job },
      'GET /instances/{account}/{region}/{id}/console': {
        target: `/instances/test/${namespace.name}/pod%20smoke/console`,
      },
      'GET /applications/{application}': { target: '/applications/shop' },
      'GET /applications/{application}/clusters': { target: '/applications/shop/clusters' },
      'GET /applications/{application}/clusters/{account}': { target: '/applications/shop/clusters/test' },
      'GET /applications/{application}/serverGroups': {
        target: '/applications/shop/serverGroups?expand=true',
      },
      'GET /applications/{application}/serverGroups/{account}/{region}/{name}': {
        target: `/applications/shop/serverGroups/test/${namespace.name}/replicaSet%20frontend-v000`,
      },
      'GET /applications/{application}/serverGroupManagers': {
        target: '/applications/shop/serverGroupManagers',
      },
      'GET /applications': { target: '/applications?restricted=false&expand=false' },
      'PUT /admin/db/truncate/{namespace}': { target: '/admin/db/truncate/any' },
      'PUT /artifacts/fetch': { target: '/artifacts/fetch', body: artifact },
      'GET /artifacts/account/{account}/names': { target: '/artifacts/account/embedded-artifact/names' },
      'GET /artifacts/account/{account}/versions': {
        target: '/artifacts/account/embedded-artifact/versions?type=embedded/base64',
      },
      'GET /artifacts/credentials': { target: '/artifacts/credentials' },
      'GET /cache/{cloudProvider}/{type}': { target: '/cache/kubernetes/manifest' },
      'POST /cache/{cloudProvider}/{type}': { target: '/cache/kubernetes/manifest', body: {} },
      'GET /credentials': { target: '/credentials?expand=true' },
      'GET /credentials/{account}': { target: '/credentials/test' },
      'GET /credentials/{account}/authorized': { target: '/credentials/test/authorized' },
      'GET /features/stages': { target: '/features/stages' },
      'GET /': { target: '/' },
      'GET /health': { target: '/health' },
      'GET /installedPlugins': { target: '/installedPlugins' },
      'GET /manifests/{account}/{location}': { target: `/manifests/test/namespace%20${namespace.name}` },
      'GET /manifests/{account}/{location}/{name}': {
        target: `/manifests/test/${namespace.name}/replicaSet%20frontend-v000`,
      },
      'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}': { target: cluster },
      'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}': {
        target: `${cluster}/dynamic/newest`,
      },
      'POST /ops': { target: '/ops', body: [{ scaleManifest: scale }] },
      'POST /ops/{operation}': { target: '/ops/scaleManifest', body: scale },
      'GET /serverGroups': { target: '/serverGroups?applications=shop' },
      'GET /serverGroups/{account}/{region}/{name}': {
        target: `/serverGroups/test/${namespace.name}/replicaSet%20frontend-v000`,
      },
      'GET /task': { target: '/task' },
      'GET /task/{id}': { target: `/task/${taskId}` },
      'GET /v3/api-docs': { target: '/v3/api-docs' },
      'POST /{cloudProvider}/ops': { target: '/kubernetes/ops', body: [{ scaleManifest: scale }] },
      'POST /{cloudProvider}/ops/{operation}': { target: '/kubernetes/ops/scaleManifest', body: scale },
      'PATCH /{cloudProvider}/task/{id}': { target: `/kubernetes/task/${taskId}`, body: { retry: true } },
      'GET /{cloudProvider}/task/{id}/owner': { target: `/kubernetes/task/${taskId}/owner` },
    };
    if (route === 'POST /task/{id}') return { target: `/task/${await startRetryable()}:resume` };
    if (route === 'POST /{cloudProvider}/task/{id}/restart') {
      return {
        target: `/kubernetes/task/${await startRetryable()}/restart`,
        body: [{ scaleManifest: scale }],
      };
    }
    const call = calls[route];
    if (call === undefined) throw new Error(`Say here how to call ${route}`);
    return call;
  }

  /** Routes of what is not there, whatever it is. */
  function listEmptyCalls(): { readonly [route: string]: Call } {
    const empty = routes.filter(({ module }) => module.startsWith('api/other-providers/'));
    const calls = empty.map(({ method, path }) => [
      `${method} ${path}`,
      { target: path.replaceAll(/\{\w+\}/g, 'any') },
    ]);
    return Object.fromEntries(calls);
  }

  /** Routes of one cluster, whose server group was deployed before. */
  function listClusterCalls(): { readonly [route: string]: Call } {
    const path = '/applications/shop/clusters/test/replicaSet%20frontend';
    const target = `kubernetes/${namespace.name}/serverGroups/target/current`;
    const targets = {
      '': path,
      '/{cloudProvider}': `${path}/kubernetes`,
      '/{cloudProvider}/loadBalancers': `${path}/kubernetes/loadBalancers`,
      '/{cloudProvider}/serverGroups': `${path}/kubernetes/serverGroups`,
      '/{cloudProvider}/serverGroups/{serverGroup}': `${path}/kubernetes/serverGroups/replicaSet%20frontend-v000`,
      '/{cloudProvider}/{scope}/serverGroups/target/{target}': `${path}/${target}`,
      '/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}': `${path}/${target}/images`,
    };
    const calls = Object.entries(targets).map(([end, target]) => [
      `GET /applications/{application}/clusters/{account}/{cluster}${end}`,
      { target },
    ]);
    return Object.fromEntries(calls);
  }

  /** A task that was ended from outside while it waited for its cluster. */
  async function startRetryable(): Promise<string> {
    delayMs = 3_000;
    const id = await system.postOperations([{ scaleManifest: toScale() }]);
    const ended = await system.fetch(`/kubernetes/task/${id}`, { method: 'PATCH', body: '{"retry":true}' });
    expect(await ended.json()).toMatchObject({ retryable: true });
    delayMs = 0;
    return id;
  }

  /** Where a Job that has just been started is found. */
  async function runJob(): Promise<string> {
    const template = {
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.invalid/app' }] },
    };
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'smoke' }, spec: { template } };
    const description = { account: 'test', application: 'shop', namespace: namespace.name, manifest };
    await system.waitForTask(await system.postOperations([{ runJob: description }]));
    return `/applications/shop/jobs/test/${namespace.name}/job%20smoke`;
  }

  function toScale(): object {
    return {
      account: 'test',
      cloudProvider: 'kubernetes',
      manifestName: 'replicaSet frontend-v000',
      location: namespace.name,
      replicas: 0,
    };
  }

  function toDeploy(): object {
    const labels = { app: 'frontend' };
    const metadata = { name: 'frontend', namespace: namespace.name, labels };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'example.invalid/app' }] },
    };
    const replicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata,
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    };
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'blue' } };
    // Not one of the ReplicaSet's, which would adopt it, and delete it once it is scaled to none.
    const alone = { ...metadata, labels: { app: 'alone' } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: alone, spec: template.spec };
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, name: 'deny' },
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
    };
    return { account: 'test', moniker: { app: 'shop' }, manifests: [replicaSet, settings, pod, policy] };
  }
});

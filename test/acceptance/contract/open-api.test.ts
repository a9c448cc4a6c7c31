import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { getPath } from '#core/json.ts';
import document from '#docs/openapi.json' with { type: 'json' };
import { routes } from '#functions/routes.ts';
import { root } from '#test/architecture/source-files.ts';
import { createJob } from '#test/shared/providers/kubernetes/manifests.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';
import {
  type CalledWorld,
  calledAccount,
  createCalledManifests,
  createRouteCalls,
  type RouteCall,
  toTarget,
} from './route-calls.ts';

/** Those whose answers have an \`ETag\`. */
const tagged = routes.filter(
  ({ method, path }) =>
    getPath(document, 'paths', path, method.toLowerCase(), 'responses', '304') !== undefined,
);

// `system.fetch` holds every answer to the document; here each route is called, so that each is held.
describeWithCluster('the OpenAPI document', (cluster) => {
  let delayMs = 0;
  const stack = new AsyncDisposableStack();
  let front50: Front50;
  let namespace: TestNamespace;
  let proxy: ApiProxy;
  let system: Subject;
  let taskId: string;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('open-api'));
    proxy = stack.use(await startApiProxy(cluster, { getDelayMs: () => delayMs }));
    const clusters = [{ account: 'test', stack: '*', detail: '*' }];
    front50 = stack.use(
      await startFront50({ projects: [{ name: 'shop', config: { applications: ['shop'], clusters } }] }),
    );
    const account = { name: 'test', kubeconfigFile: proxy.kubeconfig };
    const services = { front50: { baseUrl: front50.url } };
    const stored = {
      account: { storage: { enabled: true } },
      busdriver: { accounts: { writableWithoutFiat: true, allowPlainSecrets: true } },
    };
    system = stack.use(
      await startSubject({ settings: { kubernetes: { accounts: [account] }, services, ...stored } }),
    );
    taskId = await system.postOperations([{ deployManifest: toDeploy() }], { clientRequestId: 'first' });
    const task = await system.waitForTask(taskId);
    expect(task.status).toMatchObject({ failed: false });
    // An account that is new is cached with the scheduler's next turn. The lag is known once everything was listed.
    const pod = `/instances/test/${namespace.name}/pod%20frontend-v000`;
    const isCached = async () => {
      const { status, headers } = await system.fetch(pod);
      expect({ status, lag: headers.get('x-busdriver-lag') }).toEqual({
        status: 200,
        lag: expect.stringMatching(/^test=\d+$/),
      });
    };
    await vi.waitFor(isCached, { timeout: 120_000, interval: 500 });
  });

  afterAll(() => stack.disposeAsync());

  it('is what GET /v3/api-docs answers', async () => {
    const response = await system.fetch('/v3/api-docs');

    expect(await response.json()).toEqual(
      JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8')),
    );
  });

  it.each(routes)('has what $method $path answers', async (route) => {
    const { method, path } = route;
    const call = await prepare(createRouteCalls(getWorld())[`${method} ${path}`]);

    const response = await system.fetch(toTarget(route, call, getWorld()), {
      method,
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    });

    expect({ status: response.status, body: await response.text() }).toEqual({
      status: call.status ?? 200,
      body: call.isEmpty ? '' : expect.stringContaining(call.shows),
    });
  });

  it.each(tagged)('is told 304 for what $method $path answers as before', async (route) => {
    const call = await prepare(createRouteCalls(getWorld())[`${route.method} ${route.path}`]);
    const target = toTarget(route, call, getWorld());
    // Else \`fetch\` itself would demand what is made now.
    const headers = { 'Cache-Control': 'max-age=3600', 'Accept-Encoding': 'gzip' };
    // What pods and controllers do may still change it meanwhile.
    const askAgain = async () => {
      const tag = (await system.fetch(target, { headers })).headers.get('etag') ?? 'none';
      const again = await system.fetch(target, { headers: { ...headers, 'If-None-Match': tag } });
      return { status: again.status, isSame: again.headers.get('etag') === tag, body: await again.text() };
    };
    await expect.poll(askAgain).toEqual({ status: 304, isSame: true, body: '' });
  });

  function getWorld(): CalledWorld {
    return { namespace: namespace.name, taskId };
  }

  /** A call whose needs are met. */
  async function prepare(call: RouteCall | undefined): Promise<RouteCall> {
    if (call === undefined)
      throw new Error('test/acceptance/contract/route-calls.ts does not say how it is called');
    if (call.needs === 'job') await runJob();
    if (call.needs === 'storedAccount') {
      const body = JSON.stringify(calledAccount);
      await system.fetch('/credentials', { method: 'PUT', body });
    }
    if (call.needs === 'noStoredAccount') {
      await system.fetch(`/credentials/${calledAccount.name}`, { method: 'DELETE' });
    }
    if (call.needs !== 'retryableTask') return call;
    return { ...call, path: { ...call.path, id: await startRetryable() } };
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

  /** Starts the Job `smoke`, in place of an earlier one. */
  async function runJob(): Promise<void> {
    const manifest = createJob({ name: 'smoke' });
    const description = { account: 'test', application: 'shop', namespace: namespace.name, manifest };
    await system.waitForTask(await system.postOperations([{ runJob: description }]));
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
    const manifests = createCalledManifests(namespace.name);
    return { account: 'test', moniker: { app: 'shop' }, manifests };
  }
});

import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import type { TestCluster } from '#test/support/cluster/cluster.ts';

export interface WatchedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
}

/** Sees every change from its start on. Disposing ends it. */
export interface ObjectWatch extends AsyncDisposable {
  /** Why it ended by itself; undefined while it runs. */
  readonly end: string | undefined;
}

/**
 * Watches objects without the code under test: first each that is there is told as added, then every change.
 *
 * @param target path and query without `watch`, such as `/api/v1/namespaces/web/pods?labelSelector=app%3Dweb`
 */
export async function watchObjects(
  cluster: TestCluster,
  target: string,
  see: (change: WatchedChange) => void,
): Promise<ObjectWatch> {
  const agent = new Agent({ ca: await readFile(cluster.caFile) });
  const url = new URL(target, cluster.server);
  url.searchParams.set('watch', '1');
  const watch = { end: undefined as string | undefined };
  const began = Promise.withResolvers<void>();
  const call = request(url, { agent, headers: { authorization: `Bearer ${cluster.token}` } }, (response) => {
    if (response.statusCode !== 200) return call.destroy(new Error(`${target}: ${response.statusCode}`));
    began.resolve();
    const lines = createInterface(response);
    for (const source of [response, lines])
      source.once('error', ({ message }) => {
        watch.end ??= message;
      });
    lines.on('line', (line) => see(JSON.parse(line) as WatchedChange));
    lines.once('close', () => {
      watch.end ??= 'the API server ended it';
    });
  });
  call.once('error', (error) => {
    watch.end ??= error.message;
    began.reject(error);
  });
  call.end();
  await began.promise;
  return Object.assign(watch, {
    async [Symbol.asyncDispose]() {
      call.destroy();
      agent.destroy();
    },
  });
}

/** What stands behind a Service. */
export interface BackendWatch extends ObjectWatch {
  readonly pods: readonly string[];
  /** What came right before each moment at which nothing got its traffic, once something had. */
  readonly gaps: readonly string[];
}

/** Watches what gets the traffic of a Service, as its EndpointSlices tell. */
export async function watchBackends(
  cluster: TestCluster,
  namespace: string,
  service: string,
): Promise<BackendWatch> {
  const slices = new Map<string, readonly string[]>();
  const gaps: string[] = [];
  let pods: readonly string[] = [];
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
  const target = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`;
  const watch = await watchObjects(cluster, target, ({ type, object }) => {
    const name = String(getPath(object, 'metadata', 'name'));
    if (type === 'DELETED') slices.delete(name);
    else slices.set(name, listReady(object));
    const before = pods;
    pods = [...slices.values()].flat();
    if (before.length > 0 && pods.length === 0) gaps.push(`${before.join(', ')} left`);
  });
  return {
    get end() {
      return watch.end;
    },
    get pods() {
      return pods;
    },
    gaps,
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** An endpoint that says nothing of its readiness is ready. */
function listReady(slice: JsonObject): string[] {
  return asJsonArray(slice['endpoints'])
    .map(asJsonObject)
    .filter((endpoint) => getPath(endpoint, 'conditions', 'ready') !== false)
    .map((endpoint) => asString(getPath(endpoint, 'targetRef', 'name')) ?? '');
}

/** The ReplicationControllers of a namespace that were ever made. */
export interface ControllerWatch extends ObjectWatch {
  readonly made: readonly string[];
}

export async function watchControllers(cluster: TestCluster, namespace: string): Promise<ControllerWatch> {
  const made: string[] = [];
  const target = `/api/v1/namespaces/${namespace}/replicationcontrollers`;
  const watch = await watchObjects(cluster, target, ({ type, object }) => {
    if (type === 'ADDED') made.push(String(getPath(object, 'metadata', 'name')));
  });
  return Object.assign(watch, { made });
}

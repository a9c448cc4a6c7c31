import { type Route, routes } from '#functions/routes.ts';

export interface CalledWorld {
  /** Where the objects of `createCalledManifests` are deployed. */
  readonly namespace: string;
  readonly taskId: string;
}

export interface RouteCall {
  /** Values of the path's variables, where they are not those that variables of these names have everywhere. */
  readonly path?: { readonly [name: string]: string };
  /** What stands behind the path, as it is. */
  readonly suffix?: string;
  /** With its question mark. */
  readonly query?: string;
  readonly body?: unknown;
  /** What must be made before: a Job, a task that may be started again, whose id is the path's `{id}`, or an account of the store. */
  readonly needs?: 'job' | 'retryableTask' | 'storedAccount' | 'noStoredAccount';
  /** Text that stands in the answer: what the call was made for. */
  readonly shows: string;
  /** Default 200. */
  readonly status?: number;
  readonly isEmpty?: true;
}

/** Calls by method and path, as `functions/routes.ts` writes them. */
export type RouteCalls = { readonly [route: string]: RouteCall };

const serverGroup = 'replicaSet frontend-v000';
const policy = 'networkPolicy deny';
const pod = 'pod frontend-v000';
const shows = (name: string): RouteCall => ({ shows: `"${name}"` });

/** What stands in the place of variables of a path, by their names. */
function createValues({ namespace, taskId }: CalledWorld): { readonly [name: string]: string } {
  return {
    ...{ account: 'test', application: 'shop', cloudProvider: 'kubernetes', cluster: 'replicaSet frontend' },
    ...{ criteria: 'newest', fileName: 'main', id: taskId, location: namespace, name: serverGroup },
    ...{ namespace: 'any', operation: 'scaleManifest', pod: 'smoke', project: 'shop', region: namespace },
    ...{ scope: namespace, serverGroup, summaryType: 'images', target: 'current', type: 'any' },
  };
}

/** A call of every route. Who adds a route adds its call here: a test of the architecture asks for it. */
export function createRouteCalls(world: CalledWorld): RouteCalls {
  return {
    ...createOperationCalls(world),
    ...createLiveCalls(world),
    ...createApplicationCalls(),
    ...createObjectCalls(world),
    ...fixedCalls,
    ...listAbsentCalls(),
  };
}

/**
 * Path and query of a call.
 *
 * @throws Error for a variable of the path that has no value.
 */
export function toTarget({ method, path }: Route, call: RouteCall, world: CalledWorld): string {
  const values = new Map(Object.entries({ ...createValues(world), ...call.path }));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value !== undefined) return encodeURIComponent(value);
    throw new Error(
      `${method} ${path}: say in test/acceptance/contract/route-calls.ts what to put for {${name}}`,
    );
  });
  return `${filled}${call.suffix ?? ''}${call.query ?? ''}`;
}

function createOperationCalls({ namespace }: CalledWorld): RouteCalls {
  const base = { account: 'test', cloudProvider: 'kubernetes' };
  const scale = { ...base, manifestName: serverGroup, location: namespace, replicas: 0 };
  const list = { body: [{ scaleManifest: scale }], shows: '"resourceUri":"/task/' };
  return {
    'POST /ops': list,
    'POST /ops/{operation}': { ...list, body: scale },
    'POST /{cloudProvider}/ops': list,
    'POST /{cloudProvider}/ops/{operation}': { ...list, body: scale },
    'POST /{cloudProvider}/task/{id}/restart': { ...list, needs: 'retryableTask' },
    'POST /task/{id}': { needs: 'retryableTask', suffix: ':resume', shows: list.shows },
    'GET /task': { shows: '[' },
    'GET /tasks': { query: '?state=COMPLETED&limit=1', shows: '"state":"COMPLETED"' },
    'POST /tasks/redrive': { shows: '"isComplete":true' },
    'DELETE /task/{id}': { shows: '"completed":true' },
    'GET /task/{id}': { shows: '"completed":true' },
    'PATCH /{cloudProvider}/task/{id}': { body: { retry: true }, shows: '"completed":true' },
    'GET /{cloudProvider}/task/{id}/owner': { shows: '"name":' },
  };
}

function createLiveCalls({ namespace }: CalledWorld): RouteCalls {
  const members = 'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}';
  const job = { path: { id: 'job smoke' }, needs: 'job', shows: '"name":"smoke"' } as const;
  const jobPath = '/applications/{application}/jobs/{account}/{location}/{id}';
  return {
    'GET /manifests/{account}/{location}': {
      path: { location: `namespace ${namespace}` },
      shows: '"kind":"Namespace"',
    },
    'GET /manifests/{account}/{location}/{name}': { shows: '"kind":"ReplicaSet"' },
    [members]: { path: { name: 'replicaSet' }, shows: '"frontend-v000"' },
    [`${members}/dynamic/{criteria}`]: { path: { name: 'replicaSet' }, shows: '"frontend-v000"' },
    [`GET ${jobPath}`]: job,
    [`POST ${jobPath}`]: job,
    [`DELETE ${jobPath}`]: { ...job, shows: '{}' },
    // No container runs in the test's cluster, so nothing is written.
    [`GET ${jobPath}/{fileName}`]: { ...job, shows: '{}' },
    'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': { shows: '{}' },
    'GET /instances/{account}/{region}/{id}/console': { path: { id: 'pod smoke' }, shows: '"output":' },
  };
}

function createApplicationCalls(): RouteCalls {
  const cluster = 'GET /applications/{application}/clusters/{account}/{cluster}';
  const target = `${cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}`;
  return {
    'GET /applications': { query: '?restricted=false&expand=false', shows: '"name":"shop"' },
    'GET /applications/{application}': { shows: '"replicaSet frontend"' },
    'GET /applications/{application}/rawResources': { shows: `"${serverGroup}"` },
    'GET /applications/{application}/loadBalancers': { shows: '"service frontend"' },
    'GET /applications/{application}/serverGroups': { query: '?expand=true', shows: `"${serverGroup}"` },
    'GET /applications/{application}/serverGroups/{account}/{region}/{name}': { shows: `"${serverGroup}"` },
    // None of its own: it would change what the calls of its clusters show. Another suite may have one in the shared cluster.
    'GET /applications/{application}/serverGroupManagers': { shows: '[' },
    'GET /applications/{application}/clusters': { shows: '"replicaSet frontend"' },
    'GET /applications/{application}/clusters/{account}': { shows: `"${serverGroup}"` },
    [cluster]: { shows: `"${serverGroup}"` },
    [`${cluster}/{cloudProvider}`]: { shows: `"${serverGroup}"` },
    [`${cluster}/{cloudProvider}/loadBalancers`]: { shows: '"service frontend"' },
    [`${cluster}/{cloudProvider}/serverGroups`]: { shows: `"${serverGroup}"` },
    [`${cluster}/{cloudProvider}/serverGroups/{serverGroup}`]: { shows: `"${serverGroup}"` },
    [target]: { shows: `"${serverGroup}"` },
    [`${target}/{summaryType}`]: { shows: '"example.invalid/app"' },
    'GET /projects/{project}/clusters': { shows: '"application":"shop"' },
    'GET /search': { query: '?q=front&type=serverGroups,applications,projects', shows: `"${serverGroup}"` },
  };
}

function createObjectCalls({ namespace }: CalledWorld): RouteCalls {
  return {
    'GET /serverGroups': { query: '?applications=shop', ...shows(serverGroup) },
    'GET /serverGroups/{account}/{region}/{name}': shows(serverGroup),
    'GET /instances/{account}/{region}/{id}': { path: { id: pod }, ...shows(pod) },
    'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}': {
      ...{ path: { name: 'service frontend' }, ...shows('service frontend') },
    },
    'GET /securityGroups': shows(policy),
    'GET /securityGroups/{account}': shows(policy),
    'GET /securityGroups/{account}/{cloudProvider}': { query: `?region=${namespace}`, ...shows(policy) },
    'GET /securityGroups/{account}/{cloudProvider}/{region}': { path: { region: policy }, ...shows(policy) },
    'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}': {
      ...{ path: { name: policy }, ...shows(policy) },
    },
  };
}

/** An account that calls make. Nothing answers at its address. */
export const calledAccount = {
  type: 'kubernetes',
  name: 'called',
  server: { host: 'http://127.0.0.1:1' },
  kinds: ['configMap'],
} as const;

/** The same in go-clouddriver's form. It has a token: no broker is asked. */
const calledProvider = { name: calledAccount.name, host: 'http://127.0.0.1:1', bearerToken: 'called' };

/** Calls that depend on nothing that a test makes. */
const ofCalled = { needs: 'storedAccount', path: { account: calledAccount.name } } as const;
const ofEmbedded = { path: { account: 'embedded-artifact' }, query: '?type=embedded/base64', status: 400 };
const made = '"name":"called"';
const embedded = {
  ...{ type: 'embedded/base64', artifactAccount: 'embedded-artifact' },
  reference: Buffer.from('kind: ConfigMap').toString('base64'),
};

const fixedCalls: RouteCalls = {
  'GET /': { shows: '"name":"Busdriver"' },
  'GET /health': { shows: '"UP"' },
  'GET /status': { shows: '<h1>Busdriver</h1>' },
  'GET /installedPlugins': { shows: '[]' },
  'GET /v3/api-docs': { shows: '"openapi":"3.1.0"' },
  'GET /features/stages': { shows: '"deployManifest"' },
  'GET /credentials': { query: '?expand=true', shows: '"spinnakerKindMap":' },
  'POST /credentials': { needs: 'noStoredAccount', body: calledAccount, shows: made },
  'PUT /credentials': { body: calledAccount, shows: made },
  'PUT /credentials/{account}': { ...ofCalled, body: calledAccount, shows: made },
  'DELETE /credentials/{account}': { ...ofCalled, shows: '', isEmpty: true },
  'GET /credentials/type/{type}': { needs: 'storedAccount', path: { type: 'kubernetes' }, shows: made },
  'GET /credentials/{account}/history': { ...ofCalled, shows: '"version":1' },
  'POST /v1/kubernetes/providers': {
    needs: 'noStoredAccount',
    body: calledProvider,
    status: 201,
    shows: made,
  },
  'PUT /v1/kubernetes/providers': { body: calledProvider, shows: '"bearerToken":"******"' },
  'GET /v1/kubernetes/providers': { needs: 'storedAccount', shows: made },
  'GET /v1/kubernetes/providers/{account}': { ...ofCalled, shows: '"host":"http://127.0.0.1:1"' },
  'PUT /v1/kubernetes/providers/{account}/resources': { shows: '"frontend-v000"' },
  'DELETE /v1/kubernetes/providers/{account}/resources': { status: 204, shows: '', isEmpty: true },
  'DELETE /v1/kubernetes/providers/{account}': { ...ofCalled, status: 204, shows: '', isEmpty: true },
  'GET /credentials/{account}': { shows: '"spinnakerKindMap":' },
  'GET /credentials/{account}/health': { shows: '"breaker":"closed"' },
  'GET /credentials/{account}/authorized': { shows: '"spinnakerKindMap":' },
  'POST /credentials/{account}/compare': { status: 202, shows: '"KubernetesCoreCachingAgent[1/1]"' },
  'GET /artifacts/content-address/{application}/{hash}': {
    path: { hash: '867867a8e7e9da56bc108b97c03bf3b532f86e9cfdf3196de277a2d77d188195' },
    status: 404,
    shows: 'There is no artifact store',
  },
  'GET /artifacts/credentials': { shows: '"embedded-artifact"' },
  'GET /artifacts/account/{account}/names': { ...ofEmbedded, shows: 'type embedded/base64 has no names' },
  'GET /artifacts/account/{account}/versions': {
    ...ofEmbedded,
    shows: 'type embedded/base64 has no versions',
  },
  'PUT /artifacts/fetch': { body: embedded, shows: 'kind: ConfigMap' },
  'GET /cache/introspection': { shows: '"account":"test"' },
  'GET /cache/{cloudProvider}/{type}': { shows: '[]' },
  'POST /cache/{cloudProvider}/{type}': { body: {}, shows: '"cachedIdentifiersByType":{}' },
  'GET /{cloudProvider}/loadBalancers': { shows: '[]' },
  'GET /{cloudProvider}/charts/find': { query: '?account=none&count=5', shows: '[]' },
  'GET /{cloudProvider}/charts/tags': { query: '?account=none&repository=none', shows: '[]' },
  'GET /{cloudProvider}/images/find': { query: '?account=none&count=5', shows: '[]' },
  'GET /{cloudProvider}/images/tags': { query: '?account=none&repository=none', shows: '[]' },
  'PUT /admin/db/truncate/{namespace}': { shows: '{}' },
};

/** Inventories, which no provider here has, answer one thing, whatever they are asked. */
function listAbsentCalls(): RouteCalls {
  const absent = routes.filter(({ module }) => module.startsWith('api/inventories/'));
  return Object.fromEntries(
    absent.map(({ method, path }) => [`${method} ${path}`, { shows: path === '/networks' ? '{}' : '[]' }]),
  );
}

export function createCalledManifests(namespace: string): object[] {
  const labels = { app: 'frontend' };
  const metadata = { name: 'frontend', namespace, labels };
  const spec = { containers: [{ name: 'main', image: 'example.invalid/app' }] };
  const replicaSet = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec },
  };
  // Not one of the ReplicaSet's, which would adopt it, and delete it once it is scaled to none.
  const alone = { ...metadata, labels: { app: 'alone' } };
  const ports = [{ port: 80 }];
  return [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: replicaSet },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'blue' } },
    { apiVersion: 'v1', kind: 'Pod', metadata: alone, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, name: 'deny' },
      spec: { podSelector: {}, ingress: [{ ports }] },
    },
  ];
}

/** One route of the API: the row from which CDK, the local runtime, the OpenAPI document and the tests are made. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** API Gateway path: `{name}` is one segment. Siblings share one variable name. */
  readonly path: string;
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /**
   * What the function talks to besides its own stores: `store` nothing, `cluster` Kubernetes API servers (it runs in the
   * VPC and may be larger), `internet` artifact sources.
   */
  readonly reaches: 'store' | 'cluster' | 'internet';
  /** Lambda's time-out in seconds. Reads end below 20. */
  readonly timeoutSeconds: number;
}

/** Every route, sorted by path. */
export const routes: readonly Route[] = [
  route('GET', '/applications', 'api/applications/list-applications', 'store'),
  route('PUT', '/admin/db/truncate/{namespace}', 'api/admin/truncate-namespace', 'store'),
  route('PUT', '/artifacts/fetch', 'api/artifacts/fetch-artifact', 'internet', 120),
  route('GET', '/artifacts/credentials', 'api/artifacts/list-artifact-credentials', 'store'),
  route('GET', '/cache/{cloudProvider}/{type}', 'api/cache/list-pending-refreshes', 'store'),
  route('POST', '/cache/{cloudProvider}/{type}', 'api/cache/refresh-cache', 'store'),
  route('GET', '/credentials', 'api/credentials/list-credentials', 'store'),
  route('GET', '/credentials/{account}', 'api/credentials/get-credentials', 'store'),
  route('GET', '/credentials/{account}/authorized', 'api/credentials/get-authorized-credentials', 'store'),
  route('GET', '/features/stages', 'api/features/list-stages', 'store'),
  route('GET', '/health', 'api/health/get-health', 'store'),
  route('GET', '/installedPlugins', 'api/plugins/list-installed-plugins', 'store'),
  // Two segments: a cluster-scoped object. The sibling of {location} must have its name, so the name arrives in it.
  route('GET', '/manifests/{account}/{location}', 'api/manifests/get-cluster-scoped-manifest', 'cluster'),
  route('GET', '/manifests/{account}/{location}/{name}', 'api/manifests/get-manifest', 'cluster'),
  route(
    'GET',
    '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}',
    'api/manifests/list-cluster-manifests',
    'cluster',
  ),
  route(
    'GET',
    '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}',
    'api/manifests/get-dynamic-manifest',
    'cluster',
  ),
  route('POST', '/ops', 'api/operations/start-provider-less-operations', 'store'),
  route('POST', '/ops/{operation}', 'api/operations/start-provider-less-operation', 'store'),
  route('GET', '/task', 'api/tasks/list-tasks', 'store'),
  route('GET', '/task/{id}', 'api/tasks/get-task', 'store'),
  // Spinnaker's `POST /task/{id}:resume`: API Gateway allows no text beside a variable, so the function matches it.
  route('POST', '/task/{id}', 'api/tasks/resume-task', 'store'),
  route('POST', '/{cloudProvider}/ops', 'api/operations/start-operations', 'store'),
  route('POST', '/{cloudProvider}/ops/{operation}', 'api/operations/start-operation', 'store'),
  route('PATCH', '/{cloudProvider}/task/{id}', 'api/tasks/update-task', 'store'),
  route('GET', '/{cloudProvider}/task/{id}/owner', 'api/tasks/get-task-owner', 'store'),
  route('POST', '/{cloudProvider}/task/{id}/restart', 'api/tasks/restart-task', 'store'),
];

function route(
  method: Route['method'],
  path: string,
  module: string,
  reaches: Route['reaches'],
  timeoutSeconds = 20,
): Route {
  return { method, path, module, reaches, timeoutSeconds };
}

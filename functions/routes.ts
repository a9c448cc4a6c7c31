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
  /** What the function does with what all functions share: its role is granted exactly this. Default: nothing. */
  readonly uses?: readonly (
    | 'readAccounts'
    | 'readTasks'
    | 'writeTasks'
    | 'sendOperations'
    | 'publishEvents'
    | 'readCache'
    | 'writeCache'
    | 'wakeAgents'
    | 'sendAgents'
  )[];
  /** Lambda's memory in MB, from which its share of a processor follows. Default 1024. */
  readonly memoryMb?: number;
}

const storeRoute = { reaches: 'store', timeoutSeconds: 20 } as const;
const accountsRoute = { ...storeRoute, uses: ['readAccounts'] } as const;
const tasksRoute = { ...storeRoute, uses: ['readTasks'] } as const;
/** Reads the cache; notes the use of accounts in it, and has them refreshed where a request demands it. */
const viewRoute = {
  ...storeRoute,
  uses: ['readAccounts', 'readCache', 'wakeAgents', 'sendAgents'],
} as const;
const clusterRoute = { reaches: 'cluster', timeoutSeconds: 20, uses: ['readAccounts'] } as const;
const internetRoute = { reaches: 'internet', timeoutSeconds: 120, uses: ['readAccounts'] } as const;
const operationsRoute = {
  ...storeRoute,
  uses: ['readAccounts', 'readTasks', 'writeTasks', 'sendOperations'],
} as const;
const resumeRoute = { ...storeRoute, uses: ['readTasks', 'writeTasks', 'sendOperations'] } as const;

/** Every route. */
export const routes: readonly Route[] = [
  { ...clusterRoute, method: 'GET', path: '/applications', module: 'api/applications/list-applications' },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}',
    module: 'api/applications/get-application',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters',
    module: 'api/clusters/list-cluster-names',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}',
    module: 'api/clusters/list-clusters',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}',
    module: 'api/clusters/list-named-clusters',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}',
    module: 'api/clusters/get-cluster',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/loadBalancers',
    module: 'api/clusters/list-cluster-load-balancers',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups',
    module: 'api/clusters/list-cluster-server-groups',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}',
    module: 'api/clusters/get-cluster-server-group',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}',
    module: 'api/clusters/get-target-server-group',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}',
    module: 'api/clusters/get-target-summary',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/serverGroups',
    module: 'api/server-groups/list-application-server-groups',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/serverGroups/{account}/{region}/{name}',
    module: 'api/server-groups/get-application-server-group',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/applications/{application}/serverGroupManagers',
    module: 'api/server-groups/list-server-group-managers',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/applications/{application}/jobs/{account}/{location}/{id}',
    module: 'api/jobs/get-job',
  },
  {
    ...clusterRoute,
    method: 'POST',
    path: '/applications/{application}/jobs/{account}/{location}/{id}',
    module: 'api/jobs/get-job-details',
  },
  {
    ...clusterRoute,
    method: 'DELETE',
    path: '/applications/{application}/jobs/{account}/{location}/{id}',
    module: 'api/jobs/cancel-job',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/applications/{application}/jobs/{account}/{location}/{id}/{fileName}',
    module: 'api/jobs/get-job-file',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}',
    module: 'api/jobs/get-pod-file',
  },
  {
    ...storeRoute,
    method: 'PUT',
    path: '/admin/db/truncate/{namespace}',
    module: 'api/admin/truncate-namespace',
  },
  { ...internetRoute, method: 'PUT', path: '/artifacts/fetch', module: 'api/artifacts/fetch-artifact' },
  {
    ...accountsRoute,
    method: 'GET',
    path: '/artifacts/credentials',
    module: 'api/artifacts/list-artifact-credentials',
  },
  {
    ...storeRoute,
    method: 'GET',
    path: '/cache/{cloudProvider}/{type}',
    module: 'api/cache/list-pending-refreshes',
  },
  { ...storeRoute, method: 'POST', path: '/cache/{cloudProvider}/{type}', module: 'api/cache/refresh-cache' },
  { ...accountsRoute, method: 'GET', path: '/credentials', module: 'api/credentials/list-credentials' },
  {
    ...accountsRoute,
    method: 'GET',
    path: '/credentials/{account}',
    module: 'api/credentials/get-credentials',
  },
  {
    ...accountsRoute,
    method: 'GET',
    path: '/credentials/{account}/authorized',
    module: 'api/credentials/get-authorized-credentials',
  },
  { ...accountsRoute, method: 'GET', path: '/features/stages', module: 'api/features/list-stages' },
  { ...storeRoute, method: 'GET', path: '/health', module: 'api/health/get-health' },
  { ...storeRoute, method: 'GET', path: '/installedPlugins', module: 'api/plugins/list-installed-plugins' },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/instances/{account}/{region}/{id}/console',
    module: 'api/instances/get-console-output',
  },
  // Two segments: a cluster-scoped object. The sibling of {location} must have its name, so the name arrives in it.
  {
    ...clusterRoute,
    method: 'GET',
    path: '/manifests/{account}/{location}',
    module: 'api/manifests/get-cluster-scoped-manifest',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/manifests/{account}/{location}/{name}',
    module: 'api/manifests/get-manifest',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}',
    module: 'api/manifests/list-cluster-manifests',
  },
  {
    ...clusterRoute,
    method: 'GET',
    path: '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}',
    module: 'api/manifests/get-dynamic-manifest',
  },
  {
    ...operationsRoute,
    method: 'POST',
    path: '/ops',
    module: 'api/operations/start-provider-less-operations',
  },
  {
    ...operationsRoute,
    method: 'POST',
    path: '/ops/{operation}',
    module: 'api/operations/start-provider-less-operation',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/serverGroups',
    module: 'api/server-groups/list-server-groups',
  },
  {
    ...viewRoute,
    method: 'GET',
    path: '/serverGroups/{account}/{region}/{name}',
    module: 'api/server-groups/get-server-group',
  },
  { ...tasksRoute, method: 'GET', path: '/task', module: 'api/tasks/list-tasks' },
  { ...tasksRoute, method: 'GET', path: '/task/{id}', module: 'api/tasks/get-task' },
  // Spinnaker's `POST /task/{id}:resume`: API Gateway allows no text beside a variable, so the function matches it.
  { ...resumeRoute, method: 'POST', path: '/task/{id}', module: 'api/tasks/resume-task' },
  { ...storeRoute, method: 'GET', path: '/v3/api-docs', module: 'api/docs/get-api-docs' },
  {
    ...operationsRoute,
    method: 'POST',
    path: '/{cloudProvider}/ops',
    module: 'api/operations/start-operations',
  },
  {
    ...operationsRoute,
    method: 'POST',
    path: '/{cloudProvider}/ops/{operation}',
    module: 'api/operations/start-operation',
  },
  {
    ...storeRoute,
    uses: ['readTasks', 'writeTasks', 'publishEvents'],
    method: 'PATCH',
    path: '/{cloudProvider}/task/{id}',
    module: 'api/tasks/update-task',
  },
  {
    ...tasksRoute,
    method: 'GET',
    path: '/{cloudProvider}/task/{id}/owner',
    module: 'api/tasks/get-task-owner',
  },
  {
    ...operationsRoute,
    method: 'POST',
    path: '/{cloudProvider}/task/{id}/restart',
    module: 'api/tasks/restart-task',
  },
];

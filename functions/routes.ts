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
/** Reads the cache for namespaces of accounts. */
const credentialsRoute = { ...storeRoute, uses: ['readAccounts', 'readCache'] } as const;
/** Reads the cache; notes the use of accounts in it, and has them refreshed where a request demands it. */
const viewRoute = {
  ...storeRoute,
  uses: ['readAccounts', 'readCache', 'wakeAgents', 'sendAgents'],
} as const;
/** Asks Front50, too, which may be anywhere. */
const front50Route = { ...viewRoute, reaches: 'internet' } as const;
const clusterRoute = { reaches: 'cluster', timeoutSeconds: 20, uses: ['readAccounts'] } as const;
const internetRoute = { reaches: 'internet', timeoutSeconds: 120, uses: ['readAccounts'] } as const;
const operationsRoute = {
  ...storeRoute,
  uses: ['readAccounts', 'readTasks', 'writeTasks', 'sendOperations'],
} as const;
const resumeRoute = { ...storeRoute, uses: ['readTasks', 'writeTasks', 'sendOperations'] } as const;

/** Functions that show what is in the cache, by the path that they answer GET on. */
const views: { readonly [path: string]: string } = {
  '/applications/{application}': 'api/applications/get-application',
  '/applications/{application}/clusters': 'api/clusters/list-cluster-names',
  '/applications/{application}/clusters/{account}': 'api/clusters/list-clusters',
  '/applications/{application}/clusters/{account}/{cluster}': 'api/clusters/list-named-clusters',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}': 'api/clusters/get-cluster',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/loadBalancers':
    'api/clusters/list-cluster-load-balancers',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups':
    'api/clusters/list-cluster-server-groups',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}':
    'api/clusters/get-cluster-server-group',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}':
    'api/clusters/get-target-server-group',
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}':
    'api/clusters/get-target-summary',
  '/applications/{application}/serverGroups': 'api/server-groups/list-application-server-groups',
  '/applications/{application}/serverGroups/{account}/{region}/{name}':
    'api/server-groups/get-application-server-group',
  '/applications/{application}/serverGroupManagers': 'api/server-groups/list-server-group-managers',
  '/applications/{application}/loadBalancers': 'api/load-balancers/list-application-load-balancers',
  '/applications/{application}/rawResources': 'api/applications/list-raw-resources',
  '/instances/{account}/{region}/{id}': 'api/instances/get-instance',
  '/securityGroups': 'api/security-groups/list-security-groups',
  '/securityGroups/{account}': 'api/security-groups/list-account-security-groups',
  '/securityGroups/{account}/{cloudProvider}': 'api/security-groups/list-provider-security-groups',
  '/securityGroups/{account}/{cloudProvider}/{region}': 'api/security-groups/list-named-security-groups',
  '/securityGroups/{account}/{cloudProvider}/{region}/{name}': 'api/security-groups/get-security-group',
  '/serverGroups': 'api/server-groups/list-server-groups',
  '/serverGroups/{account}/{region}/{name}': 'api/server-groups/get-server-group',
  '/{cloudProvider}/loadBalancers': 'api/load-balancers/list-load-balancers',
  '/{cloudProvider}/loadBalancers/{account}/{region}/{name}': 'api/load-balancers/get-load-balancer',
};

/** Lists of what only other providers or services have: GET answers `[]`. All are one function. */
const emptyLists: readonly string[] = [
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities',
  '/applications/{application}/serverGroups/{account}/{region}/events',
  '/applications/{application}/functions',
  '/artifacts/account/{account}/names',
  '/artifacts/account/{account}/versions',
  '/certificates/{cloudProvider}',
  '/cloudMetrics/{cloudProvider}/{account}/{region}',
  '/credentials/type/{type}',
  '/ecs/cloudMetrics/alarms',
  '/ecs/ecsClusters',
  '/ecs/secrets',
  '/ecs/serviceDiscoveryRegistries',
  '/elasticIps/{account}',
  '/functions',
  '/instanceTypes',
  '/keyPairs',
  '/networks/{cloudProvider}',
  '/roles/{cloudProvider}',
  '/servicebroker/{account}/services',
  '/storage',
  '/subnets',
  '/subnets/{cloudProvider}',
  '/tags',
  '/vpcs',
  '/{cloudProvider}/charts/find',
  '/{cloudProvider}/charts/tags',
  '/{cloudProvider}/images/find',
  '/{cloudProvider}/images/tags',
];

/** Maps of what only other providers have: GET answers `{}`. */
const emptyMaps: readonly string[] = ['/certificates', '/networks'];

/** Every route. */
export const routes: readonly Route[] = [
  { ...viewRoute, method: 'GET', path: '/applications', module: 'api/applications/list-applications' },
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
    uses: ['readCache'],
    method: 'GET',
    path: '/cache/introspection',
    module: 'api/cache/list-agents',
  },
  {
    ...storeRoute,
    method: 'GET',
    path: '/cache/{cloudProvider}/{type}',
    module: 'api/cache/list-pending-refreshes',
  },
  { ...storeRoute, method: 'POST', path: '/cache/{cloudProvider}/{type}', module: 'api/cache/refresh-cache' },
  { ...credentialsRoute, method: 'GET', path: '/credentials', module: 'api/credentials/list-credentials' },
  {
    ...credentialsRoute,
    method: 'GET',
    path: '/credentials/{account}',
    module: 'api/credentials/get-credentials',
  },
  {
    ...credentialsRoute,
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
    ...front50Route,
    method: 'GET',
    path: '/projects/{project}/clusters',
    module: 'api/projects/list-project-clusters',
  },
  { ...front50Route, method: 'GET', path: '/search', module: 'api/search/search' },
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
  ...Object.entries(views).map(([path, module]) => ({ ...viewRoute, method: 'GET', path, module }) as const),
  ...emptyLists.map((path) => toEmptyRoute(path, 'api/other-providers/list-nothing')),
  ...emptyMaps.map((path) => toEmptyRoute(path, 'api/other-providers/map-nothing')),
];

function toEmptyRoute(path: string, module: string): Route {
  return { ...storeRoute, method: 'GET', path, module };
}

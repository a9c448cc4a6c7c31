import { inventoryRoutes } from '#views/inventories.ts';
import type { Route } from './route.ts';

export type { Access, AccessRules, Route } from './route.ts';

/** Rights to both halves of a path. */
const readBoth = { account: 'READ', application: 'READ' } as const;
const readAccount = { account: 'READ' } as const;
const readObject = { ...readAccount, resultApplication: true } as const;
const readApplication = { application: 'READ', filter: ['accounts'] } as const;
const filterAccounts = { filter: ['accounts'] } as const;
const filterAll = { filter: ['accounts', 'applications'] } as const;

const storeRoute = { reaches: 'store', timeoutSeconds: 20 } as const;
const openRoute = { ...storeRoute, access: 'anonymous' } as const;
const accountsRoute = { ...storeRoute, uses: ['readAccountFacts'] } as const;
const openAccountsRoute = { ...accountsRoute, access: 'anonymous' } as const;
const tasksRoute = { ...storeRoute, uses: ['readTasks'] } as const;
/** Reads the cache for namespaces of accounts, and looks for agents that are connected. */
const credentialsRoute = {
  ...storeRoute,
  uses: ['readAccountFacts', 'readCache', 'findAgents', 'forgetSessions'],
} as const;
/** Reads the cache; notes the use of accounts in it, and has them refreshed where a request demands it. */
const viewRoute = {
  ...storeRoute,
  uses: ['readAccountFacts', 'readCache', 'wakeAgents', 'sendAgents', 'tellAgents'],
} as const;
const comparisonRoute = { ...viewRoute, uses: [...viewRoute.uses, 'requestComparisons'] } as const;
/** Asks the catalog, too, which may be anywhere. */
const catalogRoute = { ...viewRoute, reaches: 'internet' } as const;
/** Asks agents where the cluster is one of theirs. */
const clusterRoute = { reaches: 'cluster', timeoutSeconds: 20, uses: ['readAccounts', 'askAgents'] } as const;
/** Reads what a stage has changed from its platform. As in Clouddriver, stages may ask for that without a user. */
const refreshRoute = {
  ...clusterRoute,
  uses: ['readAccounts', 'readCache', 'writeCache'],
  access: 'anonymous',
} as const;
const internetRoute = {
  reaches: 'internet',
  timeoutSeconds: 120,
  uses: ['readAccountFacts', 'readArtifactAccounts'],
} as const;
const operationsRoute = {
  ...storeRoute,
  method: 'POST',
  access: { operations: true },
  audit: 'startOperations',
  uses: ['readAccountFacts', 'readArtifactStore', 'readTasks', 'writeTasks', 'sendOperations'],
} as const;
const resumeRoute = {
  ...storeRoute,
  method: 'POST',
  uses: ['readTasks', 'writeTasks', 'sendOperations'],
  access: { task: 'WRITE' },
  audit: 'changeTask',
} as const;
/** Ends a task, and publishes that. */
const taskEnd = { ...resumeRoute, uses: ['readTasks', 'writeTasks', 'publishEvents'] } as const;

/** Changes accounts of the store, publishes that, and ends sessions of agents whose proof an account no longer takes. */
const accountChange = {
  ...storeRoute,
  uses: ['readAccountFacts', 'readStoredAccounts', 'writeAccounts', 'publishEvents', 'endSessions'],
  audit: 'changeAccount',
} as const;
/** Who refers to a user secret needs one of its roles. */
const accountDefinition = {
  ...accountChange,
  uses: [...accountChange.uses, 'readSecretRoles'],
} as const;
const storedAccountsRoute = { ...storeRoute, uses: ['readAccountFacts', 'readStoredAccounts'] } as const;
/** Lists definitions whose user secrets the caller may use. */
const definitionsRoute = {
  ...storedAccountsRoute,
  uses: [...storedAccountsRoute.uses, 'readSecretRoles'],
} as const;
const providerChange = {
  ...accountChange,
  reaches: 'cluster',
  uses: ['readAccounts', 'writeAccounts', 'publishEvents', 'endSessions'],
} as const;
const manageAccount = { manager: true, account: 'WRITE' } as const;

/** What routes have in common that stand together. Without a method it is GET. */
type RouteBase = Omit<Route, 'method' | 'path' | 'module'> & { readonly method?: Route['method'] };

/** Routes by what they have in common: the modules of functions by the path that they answer on. */
const groups: readonly (readonly [base: RouteBase, modules: { readonly [path: string]: string }])[] = [
  [
    openRoute,
    {
      '/': 'api/docs/get-start-page',
      '/health': 'api/health/get-health',
      '/installedPlugins': 'api/plugins/list-installed-plugins',
      '/v3/api-docs': 'api/docs/get-api-docs',
    },
  ],
  [{ ...refreshRoute, method: 'POST' }, { '/cache/{cloudProvider}/{type}': 'api/cache/refresh-cache' }],
  [{ ...openRoute, method: 'PUT' }, { '/admin/db/truncate/{namespace}': 'api/admin/truncate-namespace' }],
  // Gate and Fiat poll accounts for everybody. None of it is secret.
  [
    { ...credentialsRoute, access: 'anonymous' },
    {
      '/credentials': 'api/credentials/list-credentials',
      '/credentials/{account}': 'api/credentials/get-credentials',
    },
  ],
  [
    { ...credentialsRoute, access: readAccount },
    { '/credentials/{account}/health': 'api/credentials/get-account-health' },
  ],
  [
    { ...credentialsRoute, access: { account: 'WRITE' } },
    { '/credentials/{account}/authorized': 'api/credentials/get-authorized-credentials' },
  ],
  [
    { ...accountDefinition, method: 'POST', access: { manager: true } },
    { '/credentials': 'api/credentials/create-account' },
  ],
  [
    { ...accountDefinition, method: 'PUT', access: { manager: true } },
    { '/credentials': 'api/credentials/save-account' },
  ],
  [
    { ...accountDefinition, method: 'PUT', access: manageAccount },
    { '/credentials/{account}': 'api/credentials/update-account' },
  ],
  [
    { ...accountChange, method: 'DELETE', access: manageAccount },
    {
      '/credentials/{account}': 'api/credentials/delete-account',
      '/v1/kubernetes/providers/{account}': 'api/providers/delete-provider',
    },
  ],
  [
    { ...definitionsRoute, access: { manager: true, ...filterAccounts } },
    {
      '/credentials/type/{type}': 'api/credentials/list-account-definitions',
      '/v1/kubernetes/providers': 'api/providers/list-providers',
    },
  ],
  [
    { ...storedAccountsRoute, access: manageAccount },
    {
      '/credentials/{account}/history': 'api/credentials/list-account-history',
      '/v1/kubernetes/providers/{account}': 'api/providers/get-provider',
    },
  ],
  // Go-clouddriver's accounts. The token broker, which may be anywhere in the network of clusters, is asked.
  [
    { ...providerChange, method: 'POST', access: { manager: true } },
    { '/v1/kubernetes/providers': 'api/providers/create-provider' },
  ],
  [
    { ...providerChange, method: 'PUT', access: { manager: true } },
    { '/v1/kubernetes/providers': 'api/providers/save-provider' },
  ],
  [
    { ...viewRoute, method: 'PUT', access: manageAccount },
    { '/v1/kubernetes/providers/{account}/resources': 'api/providers/load-provider-resources' },
  ],
  [
    { ...viewRoute, method: 'DELETE', access: manageAccount },
    { '/v1/kubernetes/providers/{account}/resources': 'api/providers/delete-provider-resources' },
  ],
  [
    { ...comparisonRoute, method: 'POST', access: { account: 'WRITE' } },
    { '/credentials/{account}/compare': 'api/credentials/compare-account' },
  ],
  [
    openAccountsRoute,
    {
      '/artifacts/credentials': 'api/artifacts/list-artifact-credentials',
      '/cache/{cloudProvider}/{type}': 'api/cache/list-pending-refreshes',
      '/features/stages': 'api/features/list-stages',
    },
  ],
  [
    { ...internetRoute, timeoutSeconds: 20, access: 'identified' },
    {
      '/artifacts/account/{account}/names': 'api/artifacts/list-artifact-names',
      '/artifacts/account/{account}/versions': 'api/artifacts/list-artifact-versions',
    },
  ],
  [
    {
      ...{ ...internetRoute, method: 'PUT', access: 'identified' },
      uses: [...internetRoute.uses, 'readArtifactStore'],
    },
    { '/artifacts/fetch': 'api/artifacts/fetch-artifact' },
  ],
  [
    { ...storeRoute, uses: ['readAccountFacts', 'readArtifactStore'], access: { application: 'READ' } },
    { '/artifacts/content-address/{application}/{hash}': 'api/artifacts/get-stored-artifact' },
  ],
  [
    { ...storeRoute, uses: ['readCache'], access: filterAccounts },
    { '/cache/introspection': 'api/cache/list-agents' },
  ],
  [
    operationsRoute,
    {
      '/ops': 'api/operations/start-provider-less-operations',
      '/ops/{operation}': 'api/operations/start-provider-less-operation',
      '/{cloudProvider}/ops': 'api/operations/start-operations',
      '/{cloudProvider}/ops/{operation}': 'api/operations/start-operation',
    },
  ],
  [
    { ...operationsRoute, access: { task: 'WRITE', operations: true }, audit: 'changeTask' },
    { '/{cloudProvider}/task/{id}/restart': 'api/tasks/restart-task' },
  ],
  [
    { ...tasksRoute, access: filterAccounts },
    { '/task': 'api/tasks/list-tasks', '/tasks': 'api/tasks/find-tasks' },
  ],
  [
    { ...tasksRoute, uses: [...tasksRoute.uses, 'readCache'], access: filterAccounts },
    { '/status': 'api/docs/get-status-page' },
  ],
  [
    { ...tasksRoute, access: { task: 'READ' } },
    {
      '/task/{id}': 'api/tasks/get-task',
      '/{cloudProvider}/task/{id}/owner': 'api/tasks/get-task-owner',
    },
  ],
  // Spinnaker's `POST /task/{id}:resume`: API Gateway allows no text beside a variable, so the function matches it.
  [resumeRoute, { '/task/{id}': 'api/tasks/resume-task' }],
  [{ ...resumeRoute, access: { manager: true } }, { '/tasks/redrive': 'api/tasks/redrive-tasks' }],
  [{ ...taskEnd, method: 'DELETE' }, { '/task/{id}': 'api/tasks/cancel-task' }],
  [{ ...taskEnd, method: 'PATCH' }, { '/{cloudProvider}/task/{id}': 'api/tasks/update-task' }],
  [
    // What is cached is answered where the cluster does not, to who accepts that.
    { ...clusterRoute, uses: [...clusterRoute.uses, 'readCache'], access: readObject },
    {
      // Two segments: a cluster-scoped object. The sibling of {location} must have its name, so the name arrives in it.
      '/manifests/{account}/{location}': 'api/manifests/get-cluster-scoped-manifest',
      '/manifests/{account}/{location}/{name}': 'api/manifests/get-manifest',
    },
  ],
  [
    { ...clusterRoute, access: readAccount },
    {
      '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}':
        'api/manifests/list-cluster-manifests',
      '/manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}':
        'api/manifests/get-dynamic-manifest',
    },
  ],
  [
    { ...clusterRoute, access: readAccount, audit: 'readConsole' },
    { '/instances/{account}/{region}/{id}/console': 'api/instances/get-console-output' },
  ],
  [
    { ...clusterRoute, access: readBoth, audit: 'readConsole' },
    {
      '/applications/{application}/jobs/{account}/{location}/{id}/{fileName}': 'api/jobs/get-job-file',
      '/applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}':
        'api/jobs/get-pod-file',
    },
  ],
  [
    { ...clusterRoute, access: readBoth },
    { '/applications/{application}/jobs/{account}/{location}/{id}': 'api/jobs/get-job' },
  ],
  [
    { ...clusterRoute, method: 'POST', access: readBoth },
    { '/applications/{application}/jobs/{account}/{location}/{id}': 'api/jobs/get-job-details' },
  ],
  [
    {
      ...clusterRoute,
      method: 'DELETE',
      access: { account: 'WRITE', application: 'EXECUTE' },
      audit: 'deleteJob',
    },
    { '/applications/{application}/jobs/{account}/{location}/{id}': 'api/jobs/cancel-job' },
  ],
  [
    { ...viewRoute, access: { ...filterAll, anonymous: true } },
    { '/applications': 'api/applications/list-applications' },
  ],
  [
    { ...catalogRoute, access: filterAll },
    { '/projects/{project}/clusters': 'api/projects/list-project-clusters', '/search': 'api/search/search' },
  ],
  [
    { ...viewRoute, access: readApplication },
    {
      '/applications/{application}': 'api/applications/get-application',
      '/applications/{application}/clusters': 'api/clusters/list-cluster-names',
      '/applications/{application}/serverGroups': 'api/server-groups/list-application-server-groups',
      '/applications/{application}/serverGroupManagers': 'api/server-groups/list-server-group-managers',
      '/applications/{application}/loadBalancers': 'api/load-balancers/list-application-load-balancers',
      '/applications/{application}/rawResources': 'api/applications/list-raw-resources',
    },
  ],
  [
    { ...viewRoute, access: readBoth },
    {
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
    },
  ],
  [
    { ...viewRoute, access: { ...readBoth, resultApplication: true } },
    {
      '/applications/{application}/serverGroups/{account}/{region}/{name}':
        'api/server-groups/get-application-server-group',
    },
  ],
  [
    { ...viewRoute, access: readAccount },
    {
      '/instances/{account}/{region}/{id}': 'api/instances/get-instance',
      '/securityGroups/{account}': 'api/security-groups/list-account-security-groups',
      '/securityGroups/{account}/{cloudProvider}': 'api/security-groups/list-provider-security-groups',
      '/securityGroups/{account}/{cloudProvider}/{region}': 'api/security-groups/list-named-security-groups',
      '/securityGroups/{account}/{cloudProvider}/{region}/{name}': 'api/security-groups/get-security-group',
      '/{cloudProvider}/loadBalancers/{account}/{region}/{name}': 'api/load-balancers/get-load-balancer',
    },
  ],
  [
    { ...viewRoute, access: readObject },
    { '/serverGroups/{account}/{region}/{name}': 'api/server-groups/get-server-group' },
  ],
  [
    { ...viewRoute, access: filterAccounts },
    {
      '/securityGroups': 'api/security-groups/list-security-groups',
      '/{cloudProvider}/loadBalancers': 'api/load-balancers/list-load-balancers',
      ...toModules(Object.keys(inventoryRoutes), 'api/inventories/list-inventory'),
    },
  ],
  // Igor polls them for everybody.
  [
    { ...viewRoute, access: { ...filterAccounts, anonymous: true } },
    {
      '/{cloudProvider}/charts/find': 'api/images/find-charts',
      '/{cloudProvider}/charts/tags': 'api/images/list-chart-tags',
      '/{cloudProvider}/images/find': 'api/images/find-images',
      '/{cloudProvider}/images/tags': 'api/images/list-image-tags',
    },
  ],
  [{ ...viewRoute, access: filterAll }, { '/serverGroups': 'api/server-groups/list-server-groups' }],
];

/**
 * What the gate does in each function whose callers it lets in: it looks at accounts, and publishes refusals. It asks Fiat, which may
 * be anywhere.
 */
const gateUses = ['readAccountFacts', 'publishEvents'] as const;

/** Every route. */
export const routes: readonly Route[] = groups.flatMap(([base, modules]) =>
  Object.entries(modules).map(([path, module]) => withGate({ method: 'GET', ...base, path, module })),
);

function withGate(route: Route): Route {
  if (route.access === 'anonymous') return route;
  const uses = [...new Set([...(route.uses ?? []), ...gateUses])];
  // Who reads accounts with their credentials knows the facts.
  return {
    ...route,
    reaches: route.reaches === 'store' ? 'internet' : route.reaches,
    uses: uses.includes('readAccounts') ? uses.filter((use) => use !== 'readAccountFacts') : uses,
  };
}

function toModules(paths: readonly string[], module: string): { readonly [path: string]: string } {
  return Object.fromEntries(paths.map((path) => [path, module]));
}

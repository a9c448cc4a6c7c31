import type { Route } from './route.ts';

/**
 * What operators of agents ask: who is connected, what agents did, that one is to begin anew, and which accounts there are. Only who may
 * manage accounts is let in. Callers are known by headers: these routes must never stand at a door that is open to the internet, as those
 * of agents do.
 *
 * Paths and fields are those that operators of such agents know. They are no part of Spinnaker's API, and stand apart from `routes.ts`
 * for the reasons of docs/decisions/0064-agents-have-routes-of-their-own.md.
 */
const base = { api: 'operator', access: { manager: true }, reaches: 'internet', timeoutSeconds: 20 } as const;
/** The gate looks at accounts, publishes refusals, and asks Fiat, which may be anywhere. */
const readRoute = {
  ...base,
  method: 'GET',
  uses: ['readAccountFacts', 'publishEvents', 'readTasks', 'forgetSessions'],
} as const;
const changeRoute = {
  ...base,
  method: 'POST',
  uses: [...readRoute.uses, 'writeTasks', 'sendHints'],
  audit: 'changeAgent',
} as const;

/** Of accounts of several teams: only of those that the caller may read. */
const listed = { access: { manager: true, filter: ['accounts'] } } as const;

/** About one account: only for who may change it. */
const ofAccount = { access: { manager: true, account: 'WRITE' } } as const;

/** Accounts that agents serve, as the store has their definitions. */
const readDynamic = { ...readRoute, ...ofAccount, uses: [...readRoute.uses, 'readStoredAccounts'] } as const;
const activate = {
  ...changeRoute,
  method: 'PATCH',
  uses: [...changeRoute.uses, 'readStoredAccounts'],
} as const;
const deleteDynamic = {
  ...readDynamic,
  access: base.access,
  method: 'DELETE',
  uses: ['readAccountFacts', 'publishEvents', 'readStoredAccounts', 'writeAccounts', 'endSessions'],
  audit: 'changeAccount',
} as const;
const changeDynamic = {
  ...deleteDynamic,
  method: 'POST',
  uses: [...activate.uses, 'writeAccounts', 'readSecretRoles'],
} as const;

/** What routes have in common that stand together, and the modules of functions, below `operators/`, by the path that they answer on. */
type RouteGroup = readonly [Omit<Route, 'path' | 'module'>, { readonly [path: string]: string }];

const groups: readonly RouteGroup[] = [
  [
    readRoute,
    {
      '/armory/clouddrivers': 'list-clouddrivers',
      '/armory/clouddrivers/{id}': 'get-clouddriver',
      '/armory/clouddrivers/sql/pool/settings': 'get-pool-settings',
    },
  ],
  [
    { ...readRoute, ...listed },
    {
      '/armory/agents': 'list-connected-agents',
      '/armory/agents/{agentId}': 'get-connected-agent',
      '/armory/agent/operations': 'list-agent-operations',
      '/agents': 'list-account-agents',
    },
  ],
  [
    { ...readRoute, access: { manager: true, task: 'READ' } },
    { '/armory/agent/operations/{opId}': 'get-agent-operation' },
  ],
  [
    { ...changeRoute, ...listed },
    {
      '/armory/agent/assignments': 'refresh-assignments',
      '/armory/agent/operations/database': 'offer-operations',
    },
  ],
  [
    { ...changeRoute, access: { ...listed.access, agent: 'WRITE' } },
    { '/armory/agent/{agentId}/disconnect': 'disconnect-connected-agent' },
  ],
  [{ ...readRoute, ...ofAccount }, { '/credentials/{account}/agents': 'get-account-agents' }],
  [
    { ...changeRoute, ...ofAccount, method: 'PUT' },
    { '/credentials/{account}/agents': 'change-account-agents' },
  ],
  [
    readDynamic,
    {
      '/armory/accounts/{account}': 'get-dynamic-account',
      '/agents/kubernetes/accounts/{account}': 'get-agent-account',
    },
  ],
  [
    { ...readDynamic, uses: [...readDynamic.uses, 'readCache'] },
    { '/agents/kubernetes/accounts/{account}/namespaces': 'list-agent-namespaces' },
  ],
  [
    changeDynamic,
    { '/armory/accounts': 'migrate-accounts', '/armory/accounts/dynamic': 'create-dynamic-accounts' },
  ],
  [{ ...changeDynamic, method: 'PUT' }, { '/armory/accounts/dynamic': 'update-dynamic-account' }],
  [activate, { '/armory/accounts': 'activate-accounts' }],
  [deleteDynamic, { '/armory/accounts': 'delete-accounts' }],
  [{ ...deleteDynamic, ...ofAccount }, { '/armory/accounts/{account}': 'delete-dynamic-account' }],
];

/** Every route of operators. */
export const operatorRoutes: readonly Route[] = groups.flatMap(([shared, modules]) =>
  Object.entries(modules).map(([path, name]) => ({ ...shared, path, module: `operators/${name}` })),
);

import type { Route } from './route.ts';

/**
 * What operators of agents ask: who is connected, what agents did, that one is to begin anew, and which accounts there are. Only who may manage accounts is let
 * in. Callers are known by headers: these routes must never stand at a door that is open to the internet, as those of agents do.
 *
 * Paths and fields are those that operators of such agents know. They are no part of Spinnaker's API, and stand apart from `routes.ts`
 * for the reasons of docs/decisions/0064-agents-have-routes-of-their-own.md.
 */
const base = { api: 'operator', access: { manager: true }, reaches: 'store', timeoutSeconds: 20 } as const;
const readRoute = { ...base, method: 'GET', uses: ['readAccountFacts', 'readTasks'] } as const;
const changeRoute = {
  ...base,
  method: 'POST',
  uses: ['readAccountFacts', 'readTasks', 'writeTasks', 'sendHints', 'publishEvents'],
  audit: 'changeAgent',
} as const;

/** About the agents of one account: only for who may change that account. */
const accountRoute = {
  path: '/credentials/{account}/agents',
  access: { manager: true, account: 'WRITE' },
} as const;

/** Accounts that agents serve, as definitions of the store. */
const readDynamicRoute = {
  ...readRoute,
  access: accountRoute.access,
  uses: [...readRoute.uses, 'readStoredAccounts'],
} as const;
const activateRoute = {
  ...changeRoute,
  uses: [...changeRoute.uses, 'readStoredAccounts'],
} as const;
const changeDynamicRoute = {
  ...activateRoute,
  uses: [...activateRoute.uses, 'writeAccounts', 'readSecretRoles'],
  audit: 'changeAccount',
} as const;
const dynamicAccounts = '/armory/accounts';
const servedAccount = '/agents/kubernetes/accounts/{account}';

/** Every route of operators. */
export const operatorRoutes: readonly Route[] = [
  { ...readRoute, path: '/armory/clouddrivers', module: 'operators/list-clouddrivers' },
  { ...readRoute, path: '/armory/clouddrivers/{id}', module: 'operators/get-clouddriver' },
  { ...readRoute, path: '/armory/clouddrivers/sql/pool/settings', module: 'operators/get-pool-settings' },
  { ...readRoute, path: '/armory/agents', module: 'operators/list-connected-agents' },
  { ...readRoute, path: '/armory/agents/{agentId}', module: 'operators/get-connected-agent' },
  { ...readRoute, path: '/armory/agent/operations', module: 'operators/list-agent-operations' },
  { ...readRoute, path: '/armory/agent/operations/{opId}', module: 'operators/get-agent-operation' },
  {
    ...changeRoute,
    path: '/armory/agent/{agentId}/disconnect',
    module: 'operators/disconnect-connected-agent',
  },
  { ...changeRoute, path: '/armory/agent/assignments', module: 'operators/refresh-assignments' },
  {
    ...changeRoute,
    path: '/armory/agent/operations/database',
    module: 'operators/offer-operations',
  },
  { ...changeDynamicRoute, path: dynamicAccounts, module: 'operators/migrate-accounts' },
  { ...activateRoute, method: 'PATCH', path: dynamicAccounts, module: 'operators/activate-accounts' },
  { ...changeDynamicRoute, method: 'DELETE', path: dynamicAccounts, module: 'operators/delete-accounts' },
  {
    ...changeDynamicRoute,
    path: `${dynamicAccounts}/dynamic`,
    module: 'operators/create-dynamic-accounts',
  },
  {
    ...{ ...changeDynamicRoute, method: 'PUT' },
    ...{ path: `${dynamicAccounts}/dynamic`, module: 'operators/update-dynamic-account' },
  },
  {
    ...readDynamicRoute,
    path: `${dynamicAccounts}/{account}`,
    module: 'operators/get-dynamic-account',
  },
  {
    ...{ ...changeDynamicRoute, method: 'DELETE', access: accountRoute.access },
    ...{ path: `${dynamicAccounts}/{account}`, module: 'operators/delete-dynamic-account' },
  },
  { ...readDynamicRoute, path: servedAccount, module: 'operators/get-agent-account' },
  {
    ...{ ...readDynamicRoute, uses: [...readDynamicRoute.uses, 'readCache'] },
    ...{ path: `${servedAccount}/namespaces`, module: 'operators/list-agent-namespaces' },
  },
  { ...readRoute, path: '/agents', module: 'operators/list-account-agents' },
  { ...readRoute, ...accountRoute, module: 'operators/get-account-agents' },
  { ...changeRoute, ...accountRoute, method: 'PUT', module: 'operators/change-account-agents' },
];

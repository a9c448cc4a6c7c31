import type { Route } from './route.ts';

/**
 * What operators of agents ask: who is connected, what agents did, and that one is to begin anew. Only who may manage accounts is let
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
  { ...readRoute, path: '/agents', module: 'operators/list-account-agents' },
  { ...readRoute, ...accountRoute, module: 'operators/get-account-agents' },
  { ...changeRoute, ...accountRoute, method: 'PUT', module: 'operators/change-account-agents' },
];

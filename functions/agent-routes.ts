import type { Route } from './route.ts';

/**
 * What agents ask, who prove by a token which session is theirs. The functions look at that themselves, so the gate asks nothing.
 *
 * They stand apart from `routes.ts`: nothing of Spinnaker calls them, they are no part of its API, and deployed they are behind one of
 * their own. See docs/decisions/0064-agents-have-routes-of-their-own.md.
 */
const base = { api: 'agent', access: 'anonymous', reaches: 'store', timeoutSeconds: 20 } as const;
const signingRoute = { ...base, uses: ['readAccountFacts', 'keepSessions', 'signSessions'] } as const;
const endingRoute = { ...base, uses: ['readAccountFacts', 'endSessions'] } as const;
const readRoute = { ...base, uses: ['readAccountFacts', 'answerReads'] } as const;
const workRoute = { ...base, uses: ['readAccountFacts', 'readTasks', 'offerWork', 'readCache'] } as const;
/** These alone may write tasks. */
const taskRoute = {
  ...base,
  uses: ['readAccountFacts', 'readTasks', 'writeTasks', 'publishEvents', 'sendHints'],
} as const;

const cacheRoute = {
  ...base,
  uses: ['readAccountFacts', 'findSessions', 'readCache', 'writeCache'],
} as const;
/** A task may be handed over to a worker of the queue. */
const commitRoute = { ...taskRoute, uses: [...taskRoute.uses, 'sendOperations'] } as const;
const claimRoute = { ...cacheRoute, uses: [...cacheRoute.uses, 'publishEvents', 'tellAgents'] } as const;
const caches = '/agent/v1/caches/{account}';

/** Every route of agents. */
export const agentRoutes: readonly Route[] = [
  { ...signingRoute, method: 'POST', path: '/agent/v1/sessions', module: 'agents/open-session' },
  {
    ...{ ...signingRoute, method: 'POST', signed: true },
    ...{ path: '/agent/v1/iam-sessions', module: 'agents/open-iam-session' },
  },
  { ...signingRoute, method: 'POST', path: '/agent/v1/sessions/{session}', module: 'agents/renew-session' },
  { ...endingRoute, method: 'DELETE', path: '/agent/v1/sessions/{session}', module: 'agents/close-session' },
  { ...workRoute, method: 'GET', path: '/agent/v1/sessions/{session}/work', module: 'agents/list-work' },
  { ...taskRoute, method: 'POST', path: '/agent/v1/tasks/{task}/lease', module: 'agents/take-task' },
  { ...taskRoute, method: 'PUT', path: '/agent/v1/tasks/{task}/lease', module: 'agents/renew-task' },
  { ...commitRoute, method: 'POST', path: '/agent/v1/tasks/{task}/commits', module: 'agents/commit-task' },
  { ...claimRoute, method: 'POST', path: `${caches}/claims`, module: 'agents/claim-cache' },
  { ...claimRoute, method: 'PUT', path: `${caches}/claims`, module: 'agents/keep-cache' },
  { ...cacheRoute, method: 'GET', path: `${caches}/epoch`, module: 'agents/read-epoch' },
  { ...cacheRoute, method: 'PUT', path: `${caches}/epoch`, module: 'agents/raise-epoch' },
  { ...cacheRoute, method: 'GET', path: `${caches}/heads`, module: 'agents/list-heads' },
  { ...cacheRoute, method: 'POST', path: `${caches}/changes`, module: 'agents/write-changes' },
  { ...cacheRoute, method: 'POST', path: `${caches}/prunes`, module: 'agents/prune-applications' },
  { ...readRoute, method: 'POST', path: '/agent/v1/reads/{read}/lease', module: 'agents/take-read' },
  { ...readRoute, method: 'PUT', path: '/agent/v1/reads/{read}/answer', module: 'agents/answer-read' },
];

/** A function that API Gateway calls when an agent opens its connection for hints, or when that has ended. */
export type ConnectionRow = Pick<Route, 'module' | 'timeoutSeconds' | 'uses' | 'reaches'>;

/** Route `$connect` of the WebSocket API. */
export const connectRow: ConnectionRow = {
  module: 'agents/connect-agent',
  reaches: 'store',
  timeoutSeconds: 20,
  uses: ['readAccountFacts', 'keepConnections'],
};

/** Route `$disconnect`. */
export const disconnectRow: ConnectionRow = { ...connectRow, module: 'agents/disconnect-agent' };

/** Both functions of connections, which are deployed alone: one machine takes connections itself. */
export const connectionRows: readonly ConnectionRow[] = [connectRow, disconnectRow];

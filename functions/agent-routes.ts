import type { Route } from './route.ts';

/**
 * What agents ask, who prove by a token which session is theirs. The functions look at that themselves, so the gate asks nothing.
 *
 * They stand apart from `routes.ts`: nothing of Spinnaker calls them, they are no part of its API, and they are not deployed so far.
 * See docs/decisions/0064-agents-have-routes-of-their-own.md.
 */
const base = { api: 'agent', access: 'anonymous', reaches: 'store', timeoutSeconds: 20 } as const;
const sessionRoute = { ...base, uses: ['readAccountFacts', 'readTasks'] } as const;
const readRoute = { ...base, uses: ['readAccountFacts', 'readTasks', 'writeTasks'] } as const;
const taskRoute = {
  ...base,
  uses: ['readAccountFacts', 'readTasks', 'writeTasks', 'publishEvents'],
} as const;

/** Every route of agents. */
export const agentRoutes: readonly Route[] = [
  { ...sessionRoute, method: 'POST', path: '/agent/v1/sessions', module: 'agents/open-session' },
  { ...sessionRoute, method: 'POST', path: '/agent/v1/sessions/{session}', module: 'agents/renew-session' },
  { ...sessionRoute, method: 'DELETE', path: '/agent/v1/sessions/{session}', module: 'agents/close-session' },
  { ...sessionRoute, method: 'GET', path: '/agent/v1/sessions/{session}/work', module: 'agents/list-work' },
  { ...taskRoute, method: 'POST', path: '/agent/v1/tasks/{task}/lease', module: 'agents/take-task' },
  { ...taskRoute, method: 'PUT', path: '/agent/v1/tasks/{task}/lease', module: 'agents/renew-task' },
  { ...taskRoute, method: 'POST', path: '/agent/v1/tasks/{task}/commits', module: 'agents/commit-task' },
  { ...readRoute, method: 'POST', path: '/agent/v1/reads/{read}/lease', module: 'agents/take-read' },
  { ...readRoute, method: 'PUT', path: '/agent/v1/reads/{read}/answer', module: 'agents/answer-read' },
];

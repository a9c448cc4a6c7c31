import * as z from 'zod';
import { agentSchema } from './answers/cache.ts';
import { type ApiRoutes, groupRoutes } from './api-route.ts';
import { cloudProviderParameter, pathParameter } from './parameters.ts';

const parameters = [
  cloudProviderParameter,
  pathParameter('type', { description: 'What to refresh; any.', example: 'manifest' }),
];

/** Named schemas of the routes of the cache. */
export const cacheSchemas = { CachingAgent: agentSchema };

const agentExample = {
  id: 'prod/KubernetesCoreCachingAgent[1/1]',
  provider: 'kubernetes',
  totalAdditions: 4210,
  totalEvictions: 0,
  lastExecutionStartDate: '2026-11-21T09:00:00.000Z',
  lastExecutionDurationMs: 310,
  details: {},
  account: 'prod',
  name: 'KubernetesCoreCachingAgent[1/1]',
  intervalMs: 30_000,
  mode: 'stream',
  modeSince: 1795240000000,
  modeReason: 'default',
  monthlyUsd: 1.54,
  state: 'waiting',
  isStale: false,
  lastRun: {
    outcome: 'SUCCESS',
    started: 1795251600000,
    durationMs: 310,
    lagMs: 12,
    items: 4210,
    changes: 3,
  },
  asOf: 1795251600310,
  ageMs: 4200,
  failures: 0,
  attempts: 0,
  nextRun: 1795251630000,
  lastUsed: 1795251500000,
};

/** Routes of the cache: forced refreshes, and what its agents do. */
export const cacheRoutes: ApiRoutes = groupRoutes('cache', {
  'GET /cache/introspection': {
    operationId: 'listAgents',
    summary: 'What every caching agent is doing, wherever it runs',
    description: 'Sorted by account and name.',
    answer: {
      description: 'The agents.',
      schema: z.array(agentSchema),
      examples: { one: { summary: 'An agent that waits for its next run', value: [agentExample] } },
    },
  },
  'GET /cache/{cloudProvider}/{type}': {
    operationId: 'listPendingRefreshes',
    summary: 'The refreshes that wait: never any',
    parameters,
    answer: {
      description: 'An empty list: a refresh is answered at once.',
      schema: z.array(z.unknown()).max(0),
      examples: { none: { summary: 'None', value: [] } },
    },
  },
  'POST /cache/{cloudProvider}/{type}': {
    operationId: 'refreshCache',
    summary:
      'Reads what a stage has changed into the cache; for Kubernetes there is nothing to do: always 200',
    parameters,
    request: {
      description:
        'What to refresh, as its provider has it. For Kubernetes any object will do: nothing of it is read.',
      schema: z.record(z.string(), z.unknown()),
      required: true,
      examples: {
        manifest: {
          summary: 'As older Orcas send it',
          value: { account: 'prod', location: 'web', name: 'deployment frontend' },
        },
      },
    },
    answer: {
      description:
        'What was read, by type; nothing for Kubernetes. 202 where it could not be read within 5 seconds: Orca then asks again.',
      schema: z.strictObject({ cachedIdentifiersByType: z.record(z.string(), z.array(z.string())) }),
      examples: { done: { summary: 'Done', value: { cachedIdentifiersByType: {} } } },
    },
  },
});

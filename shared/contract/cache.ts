import * as z from 'zod';
import type { ApiRoutes } from './api-route.ts';
import { cloudProviderParameter, pathParameter } from './parameters.ts';

const parameters = [
  cloudProviderParameter,
  pathParameter('type', { description: 'What to refresh; any.', example: 'manifest' }),
];

const count = z.int().min(0);
const duration = count.describe('Milliseconds.');
const time = z.int().describe('Epoch milliseconds.');

const agentSchema = z
  .strictObject({
    id: z.string().min(1).describe('Account and name.'),
    provider: z.string().min(1),
    totalAdditions: count.describe('Things that it knows of.'),
    totalEvictions: z.literal(0).describe('They are counted in `changes`.'),
    lastExecutionStartDate: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
      .optional(),
    lastExecutionDurationMs: duration.optional(),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe('What an operator may want to know besides.'),
    account: z.string().min(1),
    name: z.string().min(1),
    intervalMs: duration,
    state: z
      .enum(['running', 'waiting', 'overdue', 'removed'])
      .describe(
        '`overdue` by more than two intervals; `removed` from the configuration, with data left to delete.',
      ),
    isStale: z
      .boolean()
      .describe('Its last run failed, or it is overdue: the cache may be older than `asOf`.'),
    lastRun: z
      .strictObject({
        outcome: z.enum(['SUCCESS', 'FAILURE']),
        started: time,
        durationMs: duration,
        lagMs: z.int().describe('By how much it began later than it was due.'),
        items: count.describe('Things that the agent knows of.'),
        changes: count.describe('Things that were put or removed.'),
        drift: count.optional().describe('Things that a check of the whole cache found wrong.'),
      })
      .optional()
      .describe('The last run that ended.'),
    asOf: time.optional().describe('Everything that was so at this time is cached.'),
    ageMs: duration.optional(),
    failures: count.describe('Runs that failed since one succeeded.'),
    attempts: count.describe(
      'Times that it was begun since a run ended: more than one tells of workers that died.',
    ),
    lastError: z.string().optional().describe('The last failure; later successes leave it here.'),
    lastErrorTime: time.optional(),
    leaseOwner: z.string().optional().describe('Who runs it.'),
    leaseUntil: time.optional().describe('Until when that holds unless it is renewed.'),
    nextRun: time,
    lastUsed: time.describe('When its account was last read or deployed to; 0 for never.'),
    removed: time.optional(),
  })
  .describe('A caching agent. The first seven members are those of Clouddriver.');

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
export const cacheRoutes: ApiRoutes = {
  'GET /cache/introspection': {
    operationId: 'listAgents',
    tag: 'cache',
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
    tag: 'cache',
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
    tag: 'cache',
    summary: 'Accepts a refresh, for which there is nothing to do',
    parameters,
    request: {
      description: 'What to refresh. Any object will do: nothing of it is read.',
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
      description: 'Always 200: 202 would make older Orcas poll for twelve minutes.',
      schema: z.strictObject({ cachedIdentifiersByType: z.strictObject({}) }),
      examples: { done: { summary: 'Done', value: { cachedIdentifiersByType: {} } } },
    },
  },
};

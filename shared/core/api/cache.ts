import * as z from 'zod';
import type { ApiRoutes } from './api-route.ts';
import { cloudProviderParameter, pathParameter } from './parameters.ts';

const parameters = [
  cloudProviderParameter,
  pathParameter('type', { description: 'What to refresh; any.', example: 'manifest' }),
];

/** Routes of forced refreshes. */
export const cacheRoutes: ApiRoutes = {
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

import * as z from 'zod';
import { v1InstanceSchema } from './answers/kubernetes-v1.ts';
import { instanceSchema, rawResourceSchema } from './answers/resources.ts';
import type { ApiRoutes } from './api-route.ts';
import { accountParameter, pathParameter } from './parameters.ts';
import { applicationParameter, instanceExample, makeResourceExample, regionParameter } from './resources.ts';

/** Named schemas of these routes. */
export const instanceSchemas = {
  Instance: instanceSchema,
  RawResource: rawResourceSchema,
  V1Instance: v1InstanceSchema,
};

/** Routes of pods, and of all objects of an application. */
export const instanceRoutes: ApiRoutes = {
  'GET /instances/{account}/{region}/{id}': {
    operationId: 'getInstance',
    tag: 'instances',
    isCached: true,
    summary: 'One pod, out of the cache; `{id}` is its full name, of a V1 account its name alone',
    parameters: [
      accountParameter,
      regionParameter,
      pathParameter('id', { description: 'Full name of the pod.', example: 'pod frontend-v003-x7k2p' }),
    ],
    answer: {
      description: 'The pod.',
      schema: z.union([instanceSchema, v1InstanceSchema]),
      examples: { pod: { summary: 'A pod', value: instanceExample } },
    },
    errors: [404],
  },
  'GET /applications/{application}/rawResources': {
    operationId: 'listRawResources',
    tag: 'applications',
    isCached: true,
    summary:
      'The objects of an application: server groups, their managers, load balancers and security groups; with `cacheAllApplicationRelationships` those of every cached kind, pods too',
    description: 'Which kinds an account shows, its `rawResourcesEndpointConfig` says.',
    parameters: [applicationParameter],
    answer: {
      description: 'The objects.',
      schema: z.array(rawResourceSchema),
      examples: {
        one: { summary: 'One object', value: [makeResourceExample('deployment', 'frontend')] },
        none: { summary: 'None', value: [] },
      },
    },
  },
};

import * as z from 'zod';
import { v1LoadBalancerSchema } from './answers/kubernetes-v1.ts';
import { loadBalancerSchema } from './answers/resources.ts';
import { type ApiExamples, type ApiRoutes, groupRoutes } from './api-route.ts';
import { accountParameter, cloudProviderParameter, pathParameter } from './parameters.ts';
import { applicationParameter, loadBalancerExample, regionParameter } from './resources.ts';

/** Named schemas of the routes of load balancers. */
export const loadBalancerSchemas = {
  LoadBalancer: loadBalancerSchema,
  V1LoadBalancer: v1LoadBalancerSchema,
};

const anySchema = z.union([loadBalancerSchema, v1LoadBalancerSchema]);

const one: ApiExamples = { one: { summary: 'A service', value: [loadBalancerExample] } };

/** Routes of load balancers. */
export const loadBalancerRoutes: ApiRoutes = groupRoutes('load balancers', {
  'GET /applications/{application}/loadBalancers': {
    operationId: 'listApplicationLoadBalancers',
    isCached: true,
    summary:
      'The services and ingresses of an application with the server groups behind them, sorted by name',
    parameters: [applicationParameter],
    answer: { description: 'The load balancers.', schema: z.array(anySchema), examples: one },
  },
  'GET /{cloudProvider}/loadBalancers': {
    operationId: 'listLoadBalancers',
    isCached: true,
    summary:
      'Nothing: load balancers of Kubernetes are asked for by application; 400 for a provider that is not there',
    parameters: [cloudProviderParameter],
    answer: {
      description: 'An empty list.',
      schema: z.array(z.unknown()).max(0),
      examples: { none: { summary: 'None', value: [] } },
    },
  },
  'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}': {
    operationId: 'getLoadBalancer',
    isCached: true,
    summary: 'A list with the load balancer, or without any; 400 for a provider that is not there',
    parameters: [
      cloudProviderParameter,
      accountParameter,
      regionParameter,
      pathParameter('name', {
        description: 'Full name; of a V1 account the name alone.',
        example: 'service frontend',
      }),
    ],
    answer: {
      description: 'The load balancer, or nothing.',
      schema: z.array(anySchema).max(1),
      examples: { ...one, none: { summary: 'There is no such load balancer', value: [] } },
    },
  },
});

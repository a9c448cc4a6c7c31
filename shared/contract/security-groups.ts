import * as z from 'zod';
import { v1SecurityGroupSchema } from './answers/kubernetes-v1.ts';
import {
  providersSchema,
  regionsSchema,
  securityGroupSchema,
  summariesSchema,
} from './answers/security-groups.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, cloudProviderParameter, pathParameter, textParameter } from './parameters.ts';
import { makeResourceExample, regionParameter } from './resources.ts';

/** Named schemas of the routes of security groups. */
export const securityGroupSchemas = {
  SecurityGroup: securityGroupSchema,
  V1SecurityGroup: v1SecurityGroupSchema,
};

const summaryExample = { name: 'networkPolicy deny', id: 'networkPolicy deny', moniker: {} };
const className = 'com.netflix.spinnaker.clouddriver.kubernetes.caching.view.model.KubernetesSecurityGroup';
const securityGroupExample = {
  ...makeResourceExample('networkPolicy', 'deny', 'networking.k8s.io/v1'),
  class: className,
  id: 'networkPolicy deny',
  accountName: 'prod',
  application: 'shop',
  cloudProvider: 'kubernetes',
  type: 'kubernetes',
  summary: summaryExample,
  inboundRules: [
    {
      class: `${className}$PortRule`,
      protocol: 'TCP',
      portRanges: [{ startPort: 80, endPort: 80 }],
    },
  ],
  outboundRules: [],
};

const locationQuery = textParameter('region', {
  description: 'Only this namespace; the answer is less deep then.',
  example: 'web',
});
const listing = { tag: 'security groups', isCached: true } as const satisfies Partial<ApiRoute>;
const inNamespace = { summary: 'With `region`', value: [summaryExample] };

/** Routes of security groups, which are network policies. */
export const securityGroupRoutes: ApiRoutes = {
  'GET /securityGroups': {
    ...listing,
    operationId: 'listSecurityGroups',
    summary: 'The network policies of all accounts, by account, provider and namespace',
    answer: {
      description: 'By account, provider and namespace.',
      schema: z.record(z.string(), providersSchema),
      examples: {
        one: { summary: 'One', value: { prod: { kubernetes: { web: [summaryExample] } } } },
      },
    },
  },
  'GET /securityGroups/{account}': {
    ...listing,
    operationId: 'listAccountSecurityGroups',
    summary: 'The network policies of an account; with `region` by provider alone',
    parameters: [accountParameter, locationQuery],
    answer: {
      description: 'By provider and namespace; with `region` by provider.',
      schema: z.union([providersSchema, z.record(z.string(), summariesSchema)]),
      examples: {
        all: { summary: 'All', value: { kubernetes: { web: [summaryExample] } } },
        region: { summary: 'With `region`', value: { kubernetes: [summaryExample] } },
      },
    },
  },
  'GET /securityGroups/{account}/{cloudProvider}': {
    ...listing,
    operationId: 'listProviderSecurityGroups',
    summary: 'The network policies of an account, of one provider; with `region` a list',
    parameters: [accountParameter, cloudProviderParameter, locationQuery],
    answer: {
      description: 'By namespace; with `region` a list.',
      schema: z.union([regionsSchema, summariesSchema]),
      examples: { all: { summary: 'All', value: { web: [summaryExample] } }, region: inNamespace },
    },
  },
  'GET /securityGroups/{account}/{cloudProvider}/{region}': {
    ...listing,
    operationId: 'listNamedSecurityGroups',
    summary: 'The network policies of a name, by namespace; the name stands in `{region}`',
    parameters: [
      accountParameter,
      cloudProviderParameter,
      pathParameter('region', { description: 'Full name.', example: 'networkPolicy deny' }),
    ],
    answer: {
      description: 'By namespace.',
      schema: regionsSchema,
      examples: { one: { summary: 'In one namespace', value: { web: [summaryExample] } } },
    },
  },
  'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}': {
    ...listing,
    operationId: 'getSecurityGroup',
    summary: 'One network policy with its ports',
    description: 'Where no network policy has the full name, what stands after the kind decides.',
    parameters: [
      accountParameter,
      cloudProviderParameter,
      regionParameter,
      pathParameter('name', { description: 'Full name.', example: 'networkPolicy deny' }),
    ],
    answer: {
      description: 'The network policy.',
      schema: z.union([securityGroupSchema, v1SecurityGroupSchema]),
      examples: { one: { summary: 'A network policy', value: securityGroupExample } },
    },
    errors: [404],
  },
};

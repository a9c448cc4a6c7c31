import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, cloudProviderParameter, pathParameter, textParameter } from './parameters.ts';
import { makeResourceExample, providedShape, regionParameter, resourceShape } from './resources.ts';

const summarySchema = z.strictObject({
  name: z.string().min(1),
  id: z.string().min(1),
  moniker: z.strictObject({}).describe('Always empty.'),
});
const summariesSchema = z.array(summarySchema);
const regionsSchema = z.record(z.string(), summariesSchema).describe('By namespace.');
const providersSchema = z.record(z.string(), regionsSchema).describe('By provider.');

const port = z.int().min(0).max(65_535);
const portRangeSchema = z.strictObject({
  startPort: port.optional(),
  endPort: port.optional(),
  startPortName: z.string().optional(),
  endPortName: z.string().optional(),
});
const ruleSchema = z.strictObject({
  class: z.string().min(1),
  protocol: z.string().optional(),
  portRanges: z.array(portRangeSchema).optional().describe('One range; left out for all ports.'),
});

const securityGroupSchema = z
  .strictObject({
    ...resourceShape,
    ...providedShape,
    class: z.string().min(1).describe("Name of Clouddriver's class."),
    id: z.string().min(1).describe('Full name.'),
    accountName: z.string().min(1).describe('The account again.'),
    application: z.string().optional(),
    summary: summarySchema,
    inboundRules: z.array(ruleSchema),
    outboundRules: z.array(ruleSchema),
  })
  .describe('A network policy. Of its rules only ports are shown.');

/** Named schemas of the routes of security groups. */
export const securityGroupSchemas = { SecurityGroup: securityGroupSchema };

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
    summary: 'The network policies of all accounts',
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
    summary: 'The network policies of an account',
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
    summary: 'The network policies of an account, of one provider',
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
    summary: 'The network policies of a name, in all namespaces',
    description: 'The name stands where other routes have the region.',
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
    summary: 'One network policy',
    description: 'Where no network policy has the full name, what stands after the kind decides.',
    parameters: [
      accountParameter,
      cloudProviderParameter,
      regionParameter,
      pathParameter('name', { description: 'Full name.', example: 'networkPolicy deny' }),
    ],
    answer: {
      description: 'The network policy.',
      schema: securityGroupSchema,
      examples: { one: { summary: 'A network policy', value: securityGroupExample } },
    },
    errors: [404],
  },
};

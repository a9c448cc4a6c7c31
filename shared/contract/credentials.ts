import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, flagParameter } from './parameters.ts';

const wholeNumber = z.int().min(0);

const accountShape = {
  name: z.string().min(1),
  environment: z.string().describe('Defaults to the name.'),
  accountType: z.string().describe('Defaults to the name.'),
  cloudProvider: z.string().min(1),
  type: z.string().min(1).describe('The same as `cloudProvider`.'),
  requiredGroupMembership: z
    .array(z.string())
    .describe('Groups of the older form; empty where `permissions` is there.'),
  permissions: z
    .partialRecord(z.enum(['READ', 'WRITE', 'EXECUTE', 'CREATE']), z.array(z.string()))
    .optional()
    .describe('Groups, in lower case, by what they may do. Left out for an open account.'),
  accountId: z.string().optional(),
  challengeDestructiveActions: z.boolean().describe('Whether Deck asks before it destroys something.'),
  primaryAccount: z.boolean(),
};

const spinnakerKind = z.enum([
  'instances',
  'configs',
  'serverGroups',
  'loadBalancers',
  'securityGroups',
  'serverGroupManagers',
  'unclassified',
]);

const accountSchema = z.strictObject(accountShape).describe('An account, in the short form.');

const kubernetesAccountSchema = z
  .strictObject({
    ...accountShape,
    cloudProvider: z.literal('kubernetes'),
    type: z.literal('kubernetes'),
    enabled: z.literal(true),
    cacheThreads: wholeNumber,
    cacheIntervalSeconds: wholeNumber.optional(),
    namespaces: z.array(z.string()),
    dockerRegistries: z.array(z.unknown()).max(0),
    spinnakerKindMap: z
      .record(z.string(), spinnakerKind)
      .describe("The class of infrastructure of each kind, in Spinnaker's words."),
  })
  .describe('A Kubernetes account, expanded.');

/** Named schemas of the credentials routes. */
export const credentialsSchemas = { Account: accountSchema, KubernetesAccount: kubernetesAccountSchema };

const shortExample = {
  name: 'prod',
  environment: 'prod',
  accountType: 'prod',
  cloudProvider: 'kubernetes',
  type: 'kubernetes',
  requiredGroupMembership: [],
  permissions: { READ: ['shop'], WRITE: ['shop-operators'] },
  challengeDestructiveActions: false,
  primaryAccount: false,
};

const expandedExample = {
  ...shortExample,
  enabled: true,
  cacheThreads: 1,
  namespaces: ['web'],
  dockerRegistries: [],
  spinnakerKindMap: { deployment: 'serverGroupManagers', replicaSet: 'serverGroups' },
};

const oneAccount = {
  tag: 'credentials',
  parameters: [accountParameter],
  answer: {
    description: 'The account.',
    schema: kubernetesAccountSchema,
    examples: { kubernetes: { summary: 'A Kubernetes account', value: expandedExample } },
  },
  errors: [404],
} as const satisfies Partial<ApiRoute>;

/** Routes of accounts. */
export const credentialsRoutes: ApiRoutes = {
  'GET /credentials': {
    operationId: 'listCredentials',
    tag: 'credentials',
    summary: 'Every account, sorted by name',
    description: 'Gate and Fiat poll it. How an account is connected, and its secrets, are never shown.',
    parameters: [flagParameter('expand', "With the fields of the account's provider. Default: false.", true)],
    answer: {
      description: 'The accounts.',
      schema: z.union([z.array(accountSchema), z.array(kubernetesAccountSchema)]),
      examples: {
        short: { summary: 'The short form', value: [shortExample] },
        expanded: { summary: 'With `expand=true`', value: [expandedExample] },
      },
    },
  },
  'GET /credentials/{account}': {
    ...oneAccount,
    operationId: 'getCredentials',
    summary: 'One account, expanded',
  },
  'GET /credentials/{account}/authorized': {
    ...oneAccount,
    operationId: 'getAuthorizedCredentials',
    summary: 'One account, expanded, for who may write to it',
    description: 'Orca asks it before webhooks when `webhook.validateAccount` is on. Others get 403.',
  },
};

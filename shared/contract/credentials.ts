import * as z from 'zod';
import { ifMatchMax } from '#core/request-limits.ts';
import {
  accountComparisonSchema,
  accountDefinitionSchema,
  accountHealthSchema,
  accountHealthSummarySchema,
  accountHistorySchema,
  accountSchema,
  dockerRegistryAccountSchema,
  kubernetesAccountSchema,
} from './answers/credentials.ts';
import { type ApiParameter, type ApiRoute, type ApiRoutes, groupRoutes } from './api-route.ts';
import { accountParameter, flagParameter } from './parameters.ts';

/** Named schemas of the credentials routes. */
export const credentialsSchemas = {
  Account: accountSchema,
  AccountComparison: accountComparisonSchema,
  AccountDefinition: accountDefinitionSchema,
  AccountHealth: accountHealthSchema,
  AccountHealthSummary: accountHealthSummarySchema,
  DockerRegistryAccount: dockerRegistryAccountSchema,
  KubernetesAccount: kubernetesAccountSchema,
};

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
  providerVersion: 'v2',
  skin: 'v2',
  dockerRegistries: [],
  health: { state: 'UP' },
  spinnakerKindMap: { deployment: 'serverGroupManagers', replicaSet: 'serverGroups' },
};

const registryExample = {
  ...shortExample,
  name: 'hub',
  environment: 'hub',
  accountType: 'hub',
  cloudProvider: 'dockerRegistry',
  type: 'dockerRegistry',
  address: 'https://index.docker.io',
  registry: 'index.docker.io',
  trackDigests: false,
  inspectDigests: false,
  sortTagsByDate: false,
  cacheIntervalSeconds: 30,
  cacheThreads: 1,
  clientTimeoutMillis: 60_000,
  paginateSize: 100,
  insecureRegistry: false,
  v2Endpoint: 'https://index.docker.io/v2',
  skip: [],
  health: { state: 'UP' },
};

const expandedSchema = z.union([kubernetesAccountSchema, dockerRegistryAccountSchema]);

const oneAccount = {
  parameters: [accountParameter],
  answer: {
    description: 'The account.',
    schema: expandedSchema,
    examples: {
      kubernetes: { summary: 'A Kubernetes account', value: expandedExample },
      dockerRegistry: { summary: 'A Docker registry account', value: registryExample },
    },
  },
  errors: [404],
} as const satisfies Partial<ApiRoute>;

const definitionExample = {
  type: 'kubernetes',
  name: 'prod',
  kubeconfigSecret: 'clusters/prod',
  permissions: { READ: ['shop'], WRITE: ['shop-operators'] },
};

const registryDefinitionExample = {
  type: 'dockerRegistry',
  name: 'hub',
  address: 'https://index.docker.io',
  username: 'robot',
  password: 'encrypted:secrets-manager!r:eu-west-1!s:docker-hub!k:password',
  repositories: ['acme/shop'],
};

const definitionExamples = {
  secret: { summary: 'A cluster whose kubeconfig is a secret', value: definitionExample },
  registry: { summary: 'A Docker registry whose password is a secret', value: registryDefinitionExample },
};

const stored =
  'Only where `account.storage.enabled` is true; else 400. Only who may manage accounts; see docs/accounts.md.';

/** The revision that a change is for. */
export const ifMatchParameter = {
  in: 'header',
  name: 'If-Match',
  description: 'The revision that the account must have, as an `ETag` told it; else 412.',
  schema: z.string().max(ifMatchMax),
  example: '"3"',
} as const satisfies ApiParameter;

const definitionBody = {
  description: 'The account.',
  schema: accountDefinitionSchema,
  required: true,
  examples: definitionExamples,
} as const;

const definitionAnswer = {
  description:
    'The account as it was stored; its `ETag` is the revision. Where Fiat is off and its permissions shut out the caller, ' +
    '`warnings` says so, which is not stored.',
  schema: accountDefinitionSchema,
  examples: definitionExamples,
} as const;

const accountChanges: ApiRoutes = groupRoutes('credentials', {
  'POST /credentials': {
    operationId: 'createAccount',
    summary: 'Creates an account',
    description: `${stored} A name that any account has is refused.`,
    request: definitionBody,
    answer: definitionAnswer,
  },
  'PUT /credentials': {
    operationId: 'saveAccount',
    summary: 'Creates or replaces an account',
    description: `${stored} A secret that is sent as \`******\` stays as it is.`,
    parameters: [ifMatchParameter],
    request: definitionBody,
    answer: definitionAnswer,
    errors: [412],
  },
  'PUT /credentials/{account}': {
    operationId: 'updateAccount',
    summary: 'Replaces an account',
    description: `${stored} A secret that is sent as \`******\` stays as it is. An account that the settings alone have is 404.`,
    parameters: [accountParameter, ifMatchParameter],
    request: definitionBody,
    answer: definitionAnswer,
    errors: [404, 412],
  },
  'DELETE /credentials/{account}': {
    operationId: 'deleteAccount',
    summary: 'Deletes an account that an API made',
    description: `${stored} What is cached of it goes, too; its cluster is left as it is.`,
    parameters: [accountParameter, ifMatchParameter],
    answer: {
      description: 'An empty body.',
      bytes: true,
      example: '',
    },
    errors: [404, 412],
  },
  'GET /credentials/type/{type}': {
    operationId: 'listAccountDefinitions',
    summary: 'Definitions of accounts that an API made, by name: those that the caller may change',
    description: stored,
    parameters: [
      {
        in: 'path',
        name: 'type',
        description: 'The provider: `kubernetes`. Of others there are none.',
        schema: z.string().min(1),
        example: 'kubernetes',
      },
      {
        in: 'query',
        name: 'limit',
        description: 'So many at most, 1 to 1000. Default: 100.',
        schema: z.int().min(1).max(1_000),
        example: 100,
      },
      {
        in: 'query',
        name: 'startingAccountName',
        description: 'Only this name and those behind it. Default: all.',
        schema: z.string(),
        example: 'prod',
      },
    ],
    answer: {
      description: 'The definitions.',
      schema: z.array(accountDefinitionSchema),
      examples: { one: { summary: 'One account', value: [definitionExample] } },
    },
  },
  'GET /credentials/{account}/history': {
    operationId: 'listAccountHistory',
    summary: 'Every change of an account that an API made, newest first',
    description: `${stored} Changes are kept for 400 days.`,
    parameters: [accountParameter],
    answer: {
      description: 'The changes.',
      schema: accountHistorySchema,
      examples: {
        deleted: {
          summary: 'Created, and deleted',
          value: [
            { version: 2, timestamp: 1_790_000_060_000 },
            { version: 1, timestamp: 1_790_000_000_000, account: definitionExample },
          ],
        },
      },
    },
    errors: [404],
  },
});

const healthExample = {
  account: 'prod',
  state: 'UP',
  since: 1_790_000_000_000,
  checkedAt: 1_790_000_300_000,
  lastSuccess: 1_790_000_300_000,
  breaker: 'closed',
  details: { cloudProvider: 'kubernetes' },
} as const;

const comparisonExample = {
  account: 'prod',
  requestedAt: 1_790_000_000_000,
  agents: ['KubernetesCoreCachingAgent[1/1]'],
  message:
    "What is cached of prod is compared with its cluster. That is over when 'details.compared' of each of these agents in " +
    'GET /cache/introspection is 2026-09-21T14:13:20.000Z or later',
};

const downReason =
  'the connection was refused; is the API server up, and is this its address? (ECONNREFUSED)';

/** Routes of accounts. */
export const credentialsRoutes: ApiRoutes = groupRoutes('credentials', {
  ...accountChanges,
  'GET /credentials': {
    operationId: 'listCredentials',
    summary:
      'Every account, sorted by name; with `expand=true` all its fields, and the cached namespaces where the configuration names none',
    description: 'Gate and Fiat poll it. How an account is connected, and its secrets, are never shown.',
    parameters: [flagParameter('expand', "With the fields of the account's provider. Default: false.", true)],
    isTagged: true,
    answer: {
      description: 'The accounts.',
      schema: z.union([z.array(accountSchema), z.array(expandedSchema)]),
      examples: {
        short: { summary: 'The short form', value: [shortExample] },
        expanded: { summary: 'With `expand=true`', value: [registryExample, expandedExample] },
      },
    },
  },
  'GET /credentials/{account}': {
    ...oneAccount,
    operationId: 'getCredentials',
    summary: 'One account, expanded',
  },
  'GET /credentials/{account}/health': {
    operationId: 'getAccountHealth',
    summary: 'Whether an account can be reached, and since when',
    description:
      'As whoever called its cluster last found out: operations, caching agents, live reads. See docs/accounts.md. An account that is ' +
      'left out for its settings is `REJECTED`.',
    parameters: [accountParameter],
    answer: {
      description: 'How the account is.',
      schema: accountHealthSchema,
      examples: {
        up: { summary: 'An account whose cluster answers', value: healthExample },
        down: {
          summary: 'One that cannot be reached',
          value: { ...healthExample, state: 'DOWN', reason: downReason, breaker: 'open' },
        },
      },
    },
    errors: [404],
  },
  'POST /credentials/{account}/compare': {
    operationId: 'compareAccount',
    summary: 'Has all that is cached of an account compared with its cluster now, as is done each hour',
    description:
      'For callers that may write to it; others get 403. 409 where nothing is compared: its caching is off, or has not begun, or ' +
      'each run reads everything, as that of a Docker registry. See docs/operate.md.',
    parameters: [accountParameter],
    answerStatus: 202,
    answer: {
      description: 'What was begun, and how to see that it is over.',
      schema: accountComparisonSchema,
      examples: { one: { summary: 'A Kubernetes account', value: comparisonExample } },
    },
    errors: [404, 409],
  },
  'GET /credentials/{account}/authorized': {
    ...oneAccount,
    operationId: 'getAuthorizedCredentials',
    summary: 'One account, expanded, for callers that may write to it; else 403',
    description: 'Orca asks it before webhooks when `webhook.validateAccount` is on. Others get 403.',
  },
});

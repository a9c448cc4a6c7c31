import * as z from 'zod';
import type { Answer } from './answer.ts';

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

/** An account, in the short form. */
export const accountSchema = z.strictObject(accountShape).describe('An account, in the short form.');

const healthShape = {
  state: z
    .enum(['UP', 'DEGRADED', 'DOWN', 'UNKNOWN', 'REJECTED', 'DISCONNECTED', 'OUTDATED'])
    .describe(
      '`UP`: it answers. `DEGRADED`: the last call failed. `DOWN`: it cannot be reached, and is not called for now. `UNKNOWN`: nobody ' +
        'has called it yet, or for hours. `REJECTED`: its settings are wrong. Of accounts that agents serve: `DISCONNECTED`: none is ' +
        'connected. `DEGRADED`: fewer than there are to be. `OUTDATED`: they are of another release.',
    ),
  reason: z.string().optional().describe('Why it is not `UP`.'),
};

/** How an account is, in short. */
export const accountHealthSummarySchema = z
  .strictObject(healthShape)
  .describe('How an account is, in short.');

/** How an account is. */
export const accountHealthSchema = z
  .strictObject({
    account: z.string().min(1),
    ...healthShape,
    since: wholeNumber
      .optional()
      .describe('Since when, in milliseconds since the epoch, where that is known.'),
    checkedAt: wholeNumber
      .optional()
      .describe(
        'When that was found out, in milliseconds since the epoch; while nothing changes, five minutes apart.',
      ),
    lastSuccess: wholeNumber
      .optional()
      .describe('When it had answered last, at that time, in milliseconds since the epoch.'),
    breaker: z
      .enum(['closed', 'open', 'half-open'])
      .describe('Whether it is called: `open` when not, `half-open` when it has just said that it is back.'),
    details: z.record(z.string(), z.unknown()).describe('What its provider tells besides.'),
  })
  .describe('How an account is.');

/** A Kubernetes account, expanded. */
export const kubernetesAccountSchema = z
  .strictObject({
    ...accountShape,
    cloudProvider: z.literal('kubernetes'),
    type: z.literal('kubernetes'),
    enabled: z.literal(true),
    cacheThreads: wholeNumber,
    cacheIntervalSeconds: wholeNumber.optional(),
    namespaces: z.array(z.string()),
    providerVersion: z
      .enum(['v1', 'v2'])
      .describe("The version of Spinnaker's Kubernetes provider that the account is for."),
    skin: z.string().describe('The version of the pages that Deck shows for it; the same by default.'),
    dockerRegistries: z
      .array(z.strictObject({ accountName: z.string(), namespaces: z.array(z.string()) }))
      .describe('Registries whose images a V1 account runs, and where; empty for other accounts.'),
    health: accountHealthSummarySchema.optional(),
    spinnakerKindMap: z
      .record(z.string(), z.string())
      .describe(
        'The class of infrastructure of each kind: `instances`, `configs`, `serverGroups`, `loadBalancers`, `securityGroups`, ' +
          '`serverGroupManagers` or `unclassified`; of a custom resource what the configuration says.',
      ),
  })
  .describe('A Kubernetes account, expanded.');

/** A Docker registry account, expanded. */
export const dockerRegistryAccountSchema = z
  .strictObject({
    ...accountShape,
    cloudProvider: z.literal('dockerRegistry'),
    type: z.literal('dockerRegistry'),
    address: z.string().describe('Where the registry is, without `/v2`.'),
    registry: z.string().describe('The address without its scheme.'),
    email: z.string().optional(),
    trackDigests: z.boolean(),
    inspectDigests: z.boolean(),
    sortTagsByDate: z.boolean(),
    cacheIntervalSeconds: wholeNumber,
    cacheThreads: wholeNumber,
    clientTimeoutMillis: wholeNumber,
    paginateSize: wholeNumber,
    insecureRegistry: z.boolean(),
    v2Endpoint: z.string().describe('The address with `/v2`.'),
    skip: z.array(z.string()).describe('Repositories that are not cached.'),
    health: accountHealthSummarySchema.optional(),
  })
  .describe('A Docker registry account, expanded.');

/** A definition of an account that an API made. */
export const accountDefinitionSchema = z
  .looseObject({
    type: z.string().min(1).describe('The provider: `kubernetes` or `dockerRegistry`. It stays.'),
    name: z
      .string()
      .min(1)
      .max(253)
      .describe('Letters, digits and characters of `._-`; unique whatever its case.'),
  })
  .describe(
    "An account as it was defined: the options of its provider, as below its accounts in Spinnaker's YAML. `******` stands in the " +
      'place of a secret.',
  );

/** The history of an account. */
export const accountHistorySchema = z
  .array(
    z.strictObject({
      version: wholeNumber.describe('From 1, one more with each change.'),
      timestamp: wholeNumber.describe('Milliseconds since the epoch.'),
      account: accountDefinitionSchema.optional().describe('Left out for a deletion.'),
    }),
  )
  .describe('Changes of an account, newest first.');

/** A comparison that was asked for. */
export const accountComparisonSchema = z
  .strictObject({
    account: z.string(),
    requestedAt: wholeNumber.describe('Milliseconds since the epoch.'),
    agents: z.array(z.string()).describe('Which of its caching agents compare.'),
    message: z.string().describe('How to see that it is over, in words for people.'),
  })
  .describe('A comparison of the cache of an account with its cluster.');

/** A comparison that was asked for. */
export type AccountComparison = Answer<typeof accountComparisonSchema>;

/** An account, as `GET /credentials` lists it. */
export type AccountView = Answer<typeof accountSchema>;

/** A Docker registry account, expanded. */
export type DockerRegistryAccountView = Answer<typeof dockerRegistryAccountSchema>;

/** A Kubernetes account, expanded. */
export type KubernetesAccountView = Answer<typeof kubernetesAccountSchema>;

/** How an account is. */
export type AccountHealthView = Answer<typeof accountHealthSchema>;

/** How an account is, in short. */
export type AccountHealthSummary = Answer<typeof accountHealthSummarySchema>;

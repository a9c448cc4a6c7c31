import type { Context } from './context.ts';

/** What functions that reach clusters may do to resources of accounts. */
export interface AccountGrant {
  /** IAM's names. */
  readonly actions: readonly string[];
  /** ARNs, and beginnings of ARNs with `*` behind; at least one. */
  readonly resources: readonly string[];
}

/** The options that name resources of accounts. */
export type AccountResources = Pick<
  Context,
  | 'clusterArns'
  | 'clusterArnPrefixes'
  | 'accountRoleArns'
  | 'accountRoleArnPrefixes'
  | 'accountSecretArns'
  | 'accountSecretArnPrefixes'
  | 'repositoryArns'
  | 'repositoryArnPrefixes'
>;

/**
 * Characters that the ARNs of accounts' resources may take in the policies of one role. A role holds 10,240 characters of inline
 * policies and, unless its quota was raised, ten managed policies of 6,144 each ("IAM and AWS STS quotas"). What is left is for
 * the function's other grants, and for the words between ARNs.
 */
export const accountGrantCharactersMax = 40_000;

/** How secrets are read, by the service in their ARNs. User secrets of Secrets Manager say in their tags what they are. */
const readingActions: { readonly [service: string]: readonly string[] } = {
  secretsmanager: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
  s3: ['s3:GetObject'],
  ssm: ['ssm:GetParameter'],
};

/** How repositories of ECR are read: their tags, and manifests and configurations of images by the registry itself. */
const repositoryActions: readonly string[] = [
  'ecr:BatchGetImage',
  'ecr:DescribeImages',
  'ecr:DescribeRepositories',
  'ecr:GetDownloadUrlForLayer',
];

/** Repositories of ECR that accounts read: ARNs, and beginnings of ARNs with `*` behind. */
export function listRepositories(
  context: Pick<Context, 'repositoryArns' | 'repositoryArnPrefixes'>,
): readonly string[] {
  return merge(context.repositoryArns, context.repositoryArnPrefixes);
}

/** What the operator grants for accounts. */
export function listAccountGrants(context: AccountResources): AccountGrant[] {
  const secrets = merge(context.accountSecretArns, context.accountSecretArnPrefixes);
  return [
    { actions: ['eks:DescribeCluster'], resources: merge(context.clusterArns, context.clusterArnPrefixes) },
    {
      actions: ['sts:AssumeRole'],
      resources: merge(context.accountRoleArns, context.accountRoleArnPrefixes),
    },
    { actions: repositoryActions, resources: listRepositories(context) },
    ...Object.entries(readingActions).map(([service, actions]) => ({
      actions,
      resources: secrets.filter((arn) => arn.split(':')[2] === service),
    })),
  ].filter(({ resources }) => resources.length > 0);
}

/** Secrets of accounts whose tags may say who may use them: those of Secrets Manager. */
export function listTaggedSecrets(context: AccountResources): readonly string[] {
  return listAccountGrants(context)
    .filter(({ actions }) => actions.includes('secretsmanager:DescribeSecret'))
    .flatMap(({ resources }) => resources);
}

/** How many characters the ARNs take in a policy, each with its quotes and its comma. */
export function measureAccountGrants(context: AccountResources): number {
  return listAccountGrants(context)
    .flatMap(({ resources }) => resources)
    .reduce((sum, arn) => sum + arn.length + 3, 0);
}

function merge(arns: readonly string[], prefixes: readonly string[]): string[] {
  const all = prefixes.map((prefix) => `${prefix}*`);
  return [...new Set([...all, ...arns.filter((arn) => !prefixes.some((prefix) => arn.startsWith(prefix)))])];
}

/** ARNs of one statement: at 160 characters each, less than half of what fits into a managed policy. */
const arnsPerStatement = 16;

/** Divides ARNs among several small statements: CDK spreads a role's statements over policies, and divides none. */
export function splitArns(arns: readonly string[]): string[][] {
  const count = Math.ceil(arns.length / arnsPerStatement);
  return Array.from({ length: count }, (_, index) =>
    arns.slice(index * arnsPerStatement, (index + 1) * arnsPerStatement),
  );
}

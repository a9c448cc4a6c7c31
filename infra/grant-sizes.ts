import type { Context } from './context.ts';

/** What functions that reach clusters may do to resources of accounts. */
export interface AccountGrant {
  /** IAM's name. */
  readonly action: string;
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
>;

/**
 * Characters that the ARNs of accounts' resources may take in the policies of one role. A role holds 10,240 characters of inline
 * policies and, unless its quota was raised, ten managed policies of 6,144 each ("IAM and AWS STS quotas"). What is left is for
 * the function's other grants, and for the words between ARNs.
 */
export const accountGrantCharactersMax = 40_000;

/** What the operator grants for accounts. */
export function listAccountGrants(context: AccountResources): AccountGrant[] {
  return [
    { action: 'eks:DescribeCluster', resources: merge(context.clusterArns, context.clusterArnPrefixes) },
    { action: 'sts:AssumeRole', resources: merge(context.accountRoleArns, context.accountRoleArnPrefixes) },
    {
      action: 'secretsmanager:GetSecretValue',
      resources: merge(context.accountSecretArns, context.accountSecretArnPrefixes),
    },
  ].filter(({ resources }) => resources.length > 0);
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

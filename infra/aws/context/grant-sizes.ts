import { type AwsResource, awsResources, declarations } from '#providers/declarations.ts';
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
  `${AwsResource['option'] | 'accountRoleArn' | 'accountSecretArn'}${'s' | 'Prefixes'}`
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

/** What the operator names of a provider's resources: ARNs, and beginnings of ARNs with `*` behind. */
export function listNamed({ option }: Pick<AwsResource, 'option'>, context: AccountResources): string[] {
  return merge(context[`${option}s`], context[`${option}Prefixes`]);
}

/** Actions of which IAM knows no resources, for providers with resources that the operator names. */
export function listGeneralActions(context: AccountResources): string[] {
  const named = awsResources.filter((each) => listNamed(each, context).length > 0);
  return named.flatMap(({ generalActions = [] }) => generalActions);
}

/** What the operator grants for accounts. */
export function listAccountGrants(context: AccountResources): AccountGrant[] {
  const secrets = merge(context.accountSecretArns, context.accountSecretArnPrefixes);
  const roles = {
    actions: ['sts:AssumeRole'],
    resources: merge(context.accountRoleArns, context.accountRoleArnPrefixes),
  };
  const declared = declarations.flatMap(({ assumesRoles, awsResources: own = [] }) => [
    ...own.map((each) => ({ actions: each.actions, resources: listNamed(each, context) })),
    ...(assumesRoles ? [roles] : []),
  ]);
  return [
    ...new Set(declared),
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

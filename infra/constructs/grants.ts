import { Aws } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Queue } from '../../functions/queues.ts';
import type { Route } from '../../functions/routes.ts';
import type { Schedule } from '../../functions/schedules.ts';
import { accountFactsPartition, cacheTable, lookupPartitions, tasksTable } from '../../shared/aws/tables.ts';
import { listAccountGrants, splitArns } from '../grant-sizes.ts';
import type { Surroundings } from './surroundings.ts';

/** What a row may say of what its function does. */
export type Use = NonNullable<(Route | Queue | Schedule)['uses']>[number];

/** The statements that a use needs: nothing but the calls that the stores make, on nothing but what is ours. */
const grants: { readonly [use in Use]: (surroundings: Surroundings) => PolicyStatement[] } = {
  readAccountFacts: (surroundings) => [
    new PolicyStatement({
      actions: ['dynamodb:GetItem'],
      resources: [getCacheArn(surroundings)],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [accountFactsPartition] } },
    }),
    allowKey(['kms:Decrypt', 'kms:DescribeKey'], { surroundings, service: 'dynamodb' }),
  ],
  readAccounts: (surroundings) => readSecret(surroundings, surroundings.configSecretArn),
  readArtifactAccounts: (surroundings) => readSecret(surroundings, surroundings.artifactsSecretArn),
  readTasks: (surroundings) => [
    allow(['dynamodb:GetItem', 'dynamodb:Query'], getTasksArn(surroundings)),
    allowKey(['kms:Decrypt', 'kms:DescribeKey'], { surroundings, service: 'dynamodb' }),
  ],
  writeTasks: (surroundings) => [
    allow(['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'], getTasksArn(surroundings)),
    allowKey(writingKeyActions, { surroundings, service: 'dynamodb' }),
  ],
  sendOperations: ({ queues }) => [allow(['sqs:SendMessage'], getResource(queues, 'operations').queueArn)],
  publishEvents: ({ bus }) => [allow(['events:PutEvents'], bus.eventBusArn)],
  readCache: (surroundings) => [
    allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], getCacheArn(surroundings)),
    allowKey(['kms:Decrypt', 'kms:DescribeKey'], { surroundings, service: 'dynamodb' }),
  ],
  writeCache: (surroundings) => [
    allow(writingCacheActions, getCacheArn(surroundings)),
    allowKey(writingKeyActions, { surroundings, service: 'dynamodb' }),
  ],
  wakeAgents: (surroundings) => [
    new PolicyStatement({
      actions: ['dynamodb:UpdateItem'],
      resources: [getCacheArn(surroundings)],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['AGENTS#*'] } },
    }),
    allowKey(writingKeyActions, { surroundings, service: 'dynamodb' }),
  ],
  sendAgents: ({ queues }) => [allow(['sqs:SendMessage'], getResource(queues, 'agents').queueArn)],
  sendStreams: ({ queues }) => [allow(['sqs:SendMessage'], getResource(queues, 'agent-streams').queueArn)],
};

const writingCacheActions = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** What DynamoDB does with the key for who writes. */
const writingKeyActions = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** What a function with these uses may do. */
export function toUseStatements(uses: readonly Use[], surroundings: Surroundings): PolicyStatement[] {
  return uses.flatMap((use) => grants[use](surroundings));
}

/**
 * What a function that reaches clusters may do for accounts: look up those EKS clusters, assume those roles and read those
 * secrets that the operator names, by themselves or by how their ARNs begin, and share with the others what it looked up. Without
 * names, nothing.
 */
export function toClusterStatements(surroundings: Surroundings): PolicyStatement[] {
  const grants = listAccountGrants(surroundings.context);
  if (grants.length === 0) return [];
  return [
    ...grants.flatMap(({ action, resources }) =>
      splitArns(resources).map((part) => allow([action], ...part)),
    ),
    new PolicyStatement({
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      resources: [getCacheArn(surroundings)],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${lookupPartitions}*`] } },
    }),
    allowKey(writingKeyActions, { surroundings, service: 'dynamodb' }),
  ];
}

/**
 * What a function that reaches no clusters may not do though it writes the cache: say where clusters are. Who can, has tokens of other
 * functions sent to where he likes.
 */
export function toLookupDenials(uses: readonly Use[], surroundings: Surroundings): PolicyStatement[] {
  if (!uses.includes('writeCache')) return [];
  return [
    new PolicyStatement({
      effect: Effect.DENY,
      actions: writingCacheActions,
      resources: [getCacheArn(surroundings)],
      conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [`${lookupPartitions}*`] } },
    }),
  ];
}

const anyInterface = `arn:${Aws.PARTITION}:ec2:${Aws.REGION}:${Aws.ACCOUNT_ID}:*/*`;

/**
 * What Lambda must do, under the function's role, to connect the function to a VPC; the function's own code is denied it. EC2
 * knows no resources for what it describes, and Lambda asks for the others on any.
 */
export function toNetworkStatements(functionName: string): PolicyStatement[] {
  const describe = ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'];
  const change = [
    'ec2:AssignPrivateIpAddresses',
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:UnassignPrivateIpAddresses',
  ];
  const functionArn = `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:${functionName}`;
  return [
    allow(describe, '*'),
    allow(change, anyInterface),
    new PolicyStatement({
      effect: Effect.DENY,
      actions: [...describe, ...change],
      resources: ['*'],
      conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
    }),
  ];
}

/** The named one. @throws Error when there is none. */
export function getResource<T>(resources: ReadonlyMap<string, T>, name: string): T {
  const found = resources.get(name);
  if (found === undefined) throw new Error(`there is no '${name}' among ${[...resources.keys()].join(', ')}`);
  return found;
}

function getTasksArn({ tables }: Surroundings): string {
  return getResource(tables, tasksTable.name).tableArn;
}

function getCacheArn({ tables }: Surroundings): string {
  return getResource(tables, cacheTable.name).tableArn;
}

function allow(actions: string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}

/** Reading a secret that may be one of ours, and thus encrypted with our key. */
export function readSecret(surroundings: Surroundings, secretArn: string): PolicyStatement[] {
  return [
    allow(['secretsmanager:GetSecretValue'], secretArn),
    allowKey(['kms:Decrypt'], { surroundings, service: 'secretsmanager' }),
  ];
}

/** The key, but only by way of the service that encrypts with it. */
function allowKey(
  actions: string[],
  { surroundings, service }: { surroundings: Surroundings; service: string },
): PolicyStatement {
  // In China services have names of their own, and KMS does not say by which of both it knows them.
  const hosts = ['amazonaws.com', Aws.URL_SUFFIX].map((suffix) => `${service}.${Aws.REGION}.${suffix}`);
  const conditions = { StringEquals: { 'kms:ViaService': hosts } };
  return new PolicyStatement({ actions, resources: [surroundings.keyArn], conditions });
}

import { Aws } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Route, Use } from '#functions/route.ts';
import {
  accountFactsPartition,
  accountsTable,
  cacheTable,
  healthPartition,
  lookupPartitions,
  tasksTable,
} from '#platform/aws/tables.ts';
import {
  listAccountGrants,
  listGeneralActions,
  listTaggedSecrets,
  splitArns,
} from '../context/grant-sizes.ts';
import { postHints } from './hint-grants.ts';
import type { SharedResources } from './shared-resources.ts';

/** The statements that a use needs: nothing but the calls that the stores make, on nothing but what is ours. */
const grants: { readonly [use in Use]: (sharedResources: SharedResources) => PolicyStatement[] } = {
  readAccountFacts: (sharedResources) => [
    new PolicyStatement({
      actions: ['dynamodb:GetItem'],
      resources: [getCacheArn(sharedResources)],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [accountFactsPartition] } },
    }),
    allowKey(readingKeyActions, sharedResources),
  ],
  readAccounts: (sharedResources) => [
    ...readSecret(sharedResources, sharedResources.configSecretArn),
    ...readStoredAccounts(sharedResources),
  ],
  readStoredAccounts,
  writeAccounts: (sharedResources) => [
    allow(writingActions, getResource(sharedResources.tables, accountsTable.name).tableArn),
    allowKey(writingKeyActions, sharedResources),
  ],
  readSecretRoles: ({ context }) =>
    splitArns(listTaggedSecrets(context)).map((part) => allow(['secretsmanager:DescribeSecret'], ...part)),
  readArtifactAccounts: (sharedResources) => readSecret(sharedResources, sharedResources.artifactsSecretArn),
  readArtifactStore: ({ context: { artifactStoreBucket: bucket } }) =>
    bucket === undefined ? [] : [allow(['s3:GetObject'], `arn:${Aws.PARTITION}:s3:::${bucket}/*`)],
  readTasks: (sharedResources) => [
    allow(['dynamodb:GetItem', 'dynamodb:Query'], getTasksArn(sharedResources)),
    allowKey(readingKeyActions, sharedResources),
  ],
  writeTasks: (sharedResources) => [
    allow(writingActions, getTasksArn(sharedResources)),
    allowKey(writingKeyActions, sharedResources),
  ],
  // Hints notify agents of theirs.
  sendOperations: ({ queues, hints }) => [
    allow(['sqs:SendMessage'], getResource(queues, 'operations').queueArn),
    ...postHints(hints),
  ],
  publishEvents: ({ bus }) => [allow(['events:PutEvents'], bus.eventBusArn)],
  readCache: (sharedResources) => [
    allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], getCacheArn(sharedResources)),
    allowKey(readingKeyActions, sharedResources),
  ],
  writeCache: (sharedResources) => [
    allow(writingActions, getCacheArn(sharedResources)),
    allowKey(writingKeyActions, sharedResources),
  ],
  requestComparisons: (sharedResources) => updateCache(sharedResources, 'EPOCH#*'),
  wakeAgents: (sharedResources) => updateCache(sharedResources, 'AGENTS#*'),
  sendAgents: ({ queues }) => [allow(['sqs:SendMessage'], getResource(queues, 'agents').queueArn)],
  sendStreams: ({ queues }) => [allow(['sqs:SendMessage'], getResource(queues, 'agent-streams').queueArn)],
  sendHints: ({ hints }) => postHints(hints),
  tellAgents: (sharedResources) => (sharedResources.hints === undefined ? [] : tellAgents(sharedResources)),
  askAgents: (sharedResources) => (sharedResources.hints === undefined ? [] : askAgents(sharedResources)),
  findSessions: (sharedResources) => onTasks(sharedResources, [[findingActions, sessionItems]]),
  findAgents: (sharedResources) =>
    onTasks(sharedResources, [
      [findingActions, [...sessionItems, ...enrolmentItems]],
      [['dynamodb:Query'], [...seenItems, 'INBOX#*']],
    ]),
  // A look for the agents of an account removes what is left of sessions that are over.
  forgetSessions: (sharedResources) =>
    sharedResources.hints === undefined
      ? []
      : onTasks(sharedResources, [[['dynamodb:DeleteItem'], seenItems]]),
  keepSessions: (sharedResources) => onTasks(sharedResources, keepSessions),
  endSessions: (sharedResources) =>
    sharedResources.hints === undefined
      ? []
      : [...onTasks(sharedResources, keepSessions), ...tellAgents(sharedResources)],
  keepConnections: (sharedResources) =>
    onTasks(sharedResources, [
      [findingActions, sessionItems],
      [['dynamodb:PutItem', 'dynamodb:DeleteItem'], connectionItems],
    ]),
  answerReads: (sharedResources) =>
    onTasks(sharedResources, [
      [findingActions, sessionItems],
      [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], ['READ#*']],
    ]),
  offerWork: (sharedResources) =>
    onTasks(sharedResources, [
      [['dynamodb:UpdateItem'], sessionItems],
      [['dynamodb:DeleteItem'], ['INBOX#*', 'READS#*']],
    ]),
  // The stack of agents has the key, and grants it.
  signSessions: () => [],
  // `writeCache` allows it; functions without this use are denied it.
  publishAccountFacts: () => [],
};

/** Whether a function with this use notifies agents of work. */
export function isTelling(use: Use): boolean {
  return ['sendOperations', 'sendHints', 'tellAgents', 'askAgents', 'endSessions'].includes(use);
}

/** Partitions of the table of tasks that hold no task: sessions by id, lists of them, what is known of agents, their connections. */
const sessionItems = ['SESSION#*'];
const seenItems = ['SEEN#*'];
const enrolmentItems = ['ENROLMENT#*'];
const connectionItems = ['CONN#*'];

/** Partitions of live reads. */
const readItems = ['READ#*', 'READS#*'];

const findingActions = ['dynamodb:GetItem'];
const writingActions = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** Actions, and the partitions of a table on which they are allowed. */
type PartitionGrant = readonly [actions: readonly string[], partitions: readonly string[]];

/** Opening, renewing and ending sessions. */
const keepSessions: readonly PartitionGrant[] = [
  [
    ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    [...sessionItems, ...enrolmentItems],
  ],
  [
    ['dynamodb:Query', 'dynamodb:PutItem'],
    ['SESSIONS', ...seenItems],
  ],
];

/** Dealing with some partitions of the table of tasks, and with no others. */
function onTasks(sharedResources: SharedResources, grants: readonly PartitionGrant[]): PolicyStatement[] {
  const writes = grants.some(([actions]) => actions.some((action) => writingActions.includes(action)));
  return [
    ...grants.map((grant) => allowPartitions(getTasksArn(sharedResources), grant)),
    allowKey(writes ? writingKeyActions : readingKeyActions, sharedResources),
  ];
}

/** Having live reads made, and finding out who could make them: rows of sessions that are over are removed on the way. */
function askAgents(sharedResources: SharedResources): PolicyStatement[] {
  return [
    ...onTasks(sharedResources, [
      [
        ['dynamodb:GetItem', 'dynamodb:Query', ...writingActions],
        [...readItems, ...connectionItems],
      ],
      [findingActions, sessionItems],
      [['dynamodb:Query', 'dynamodb:DeleteItem'], seenItems],
    ]),
    ...postHints(sharedResources.hints),
  ];
}

/** Finding the connections of an account, and forgetting those that are gone: for who does nothing else with tasks. */
function tellAgents(sharedResources: SharedResources): PolicyStatement[] {
  return [
    ...onTasks(sharedResources, [[['dynamodb:Query', 'dynamodb:DeleteItem'], connectionItems]]),
    ...postHints(sharedResources.hints),
  ];
}

function readStoredAccounts(sharedResources: SharedResources): PolicyStatement[] {
  return [
    allow(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
      getResource(sharedResources.tables, accountsTable.name).tableArn,
    ),
    allowKey(readingKeyActions, sharedResources),
  ];
}

/** What DynamoDB does with the key for who reads. */
const readingKeyActions = ['kms:Decrypt', 'kms:DescribeKey'];

/** … and for who writes. */
const writingKeyActions = [
  ...readingKeyActions,
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** What a function with these uses may do. */
export function toUseStatements(uses: readonly Use[], sharedResources: SharedResources): PolicyStatement[] {
  return uses.flatMap((use) => grants[use](sharedResources));
}

/**
 * What a function that reaches clusters may do for accounts: look up those EKS clusters, assume those roles and read those
 * secrets that the operator names, by themselves or by how their ARNs begin, and share with the others what it looked up, and which
 * accounts can be reached. Without names, the latter two alone.
 */
export function toClusterStatements(sharedResources: SharedResources): PolicyStatement[] {
  const grants = listAccountGrants(sharedResources.context);
  return [
    ...grants.flatMap(({ actions, resources }) =>
      splitArns(resources).map((part) => allow([...actions], ...part)),
    ),
    ...listGeneralActions(sharedResources.context).map((action) => allow([action], '*')),
    allowPartitions(getCacheArn(sharedResources), [
      ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [`${lookupPartitions}*`, healthPartition],
    ]),
    allowKey(writingKeyActions, sharedResources),
  ];
}

/**
 * What a function may not do though it writes the cache. Functions that reach no clusters may not say where clusters are: they could have
 * tokens of other functions sent anywhere. And one function alone says what all others know of the accounts, such as who may use them.
 */
export function toCacheDenials(
  { uses = [], reaches }: { readonly uses?: readonly Use[] | undefined; readonly reaches?: Route['reaches'] },
  sharedResources: SharedResources,
): PolicyStatement[] {
  if (!uses.includes('writeCache')) return [];
  return [
    ...(reaches === 'cluster' ? [] : [denyCache(sharedResources, `${lookupPartitions}*`)]),
    ...(uses.includes('publishAccountFacts') ? [] : [denyCache(sharedResources, accountFactsPartition)]),
  ];
}

/** Updating items of some partitions of the cache, and nothing else there. */
function updateCache(sharedResources: SharedResources, partitions: string): PolicyStatement[] {
  return [
    allowPartitions(getCacheArn(sharedResources), [['dynamodb:UpdateItem'], [partitions]]),
    allowKey(writingKeyActions, sharedResources),
  ];
}

function denyCache(sharedResources: SharedResources, partitions: string): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.DENY,
    actions: writingActions,
    resources: [getCacheArn(sharedResources)],
    conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [partitions] } },
  });
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

function getTasksArn({ tables }: SharedResources): string {
  return getResource(tables, tasksTable.name).tableArn;
}

function getCacheArn({ tables }: SharedResources): string {
  return getResource(tables, cacheTable.name).tableArn;
}

function allowPartitions(table: string, [actions, partitions]: PartitionGrant): PolicyStatement {
  const conditions = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] } };
  return new PolicyStatement({ actions: [...actions], resources: [table], conditions });
}

function allow(actions: string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}

/** Reading a secret that may be one of ours, and thus encrypted with our key. */
export function readSecret(sharedResources: SharedResources, secretArn: string): PolicyStatement[] {
  return [
    allow(['secretsmanager:GetSecretValue'], secretArn),
    allowKey(['kms:Decrypt'], sharedResources, 'secretsmanager'),
  ];
}

/** The key, but only by way of the service that encrypts with it. */
function allowKey(actions: string[], { keyArn }: SharedResources, service = 'dynamodb'): PolicyStatement {
  // In China services have names of their own, and KMS does not say by which of both it knows them.
  const hosts = ['amazonaws.com', Aws.URL_SUFFIX].map((suffix) => `${service}.${Aws.REGION}.${suffix}`);
  const conditions = { StringEquals: { 'kms:ViaService': hosts } };
  return new PolicyStatement({ actions, resources: [keyArn], conditions });
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ItemTable } from '#platform/aws/table.ts';
import { tables as allTables, tasksTable } from '#platform/aws/tables.ts';
import { readEnvironment } from '#platform/config.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import {
  type AwsEndpoints,
  readToken,
  type SeenCall,
  startAwsEndpoints,
} from '#test/support/engines/aws-endpoints.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { runProgram, writeBundle } from '#test/support/system/function-bundles.ts';

/**
 * A release in which every environment is new. Each is a process of its own that runs the bundle of a function as Lambda does, on one
 * DynamoDB and against endpoints that speak the protocols of STS, EKS and Secrets Manager, count, and throttle as EKS does.
 */

const { clusterCount, roleCount } = chooseSize({
  short: { clusterCount: 60, roleCount: 6 },
  long: { clusterCount: 300, roleCount: 20 },
});
const credentials = { accessKeyId: 'AKIAOWN', secretAccessKey: 'own-secret-key' };
const region = 'eu-west-1';

let tables: TempDir;
let aws: AwsEndpoints;
/** The API server of all clusters, and who signed the tokens that it was shown. */
let server: Server;
let signers: Set<string>;
let dynamodb: Awaited<ReturnType<typeof startDynamoDb>>;

beforeEach(async () => {
  tables = await makeTempDir();
  aws = await startAwsEndpoints();
  signers = new Set();
  server = await startApiServer();
  dynamodb = await startDynamoDb({ dir: tables.path, tables: allTables });
});
afterEach(async () => {
  await dynamodb[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await aws[Symbol.asyncDispose]();
  await tables[Symbol.asyncDispose]();
});

/** It has one object, and knows no other. Without TLS: as many connections of each environment are enough work. */
async function startApiServer(): Promise<Server> {
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    signers.add(readToken(token).accessKeyId);
    const isMissing = request.url?.endsWith('/gone');
    const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    response
      .writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(isMissing ? missing : configMap));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop', uid: 'u1' },
};

const names = Array.from({ length: clusterCount }, (_, index) => `cluster-${index}`);

function toRoleArn(index: number): string {
  return `arn:aws:iam::${String(222_200_000_000 + (index % roleCount))}:role/spinnaker/deployer`;
}

/** Accounts of EKS clusters, all of which are where the server is. */
function placeClusters(): void {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const certificateAuthority = { data: Buffer.from('no certificate').toString('base64') };
  for (const name of names) aws.clusters.set(name, { endpoint, certificateAuthority, status: 'ACTIVE' });
  for (let index = 0; index < roleCount; index += 1) aws.roles.set(toRoleArn(index), 3600);
  configure(names.map((name, index) => ({ name, eks: { cluster: name, roleArn: toRoleArn(index) } })));
}

function configure(accounts: readonly object[]): void {
  aws.secrets.set('config', { SecretString: JSON.stringify({ kubernetes: { accounts } }) });
}

interface Event {
  readonly module: string;
  /** One a call. */
  readonly events: readonly object[];
}

/** Answers of a function's environment that has just been started, which is called with all events, 15 at a time. */
async function runEnvironment({ module, events }: Event): Promise<readonly unknown[]> {
  const file = await writeBundle(module, aws.dir);
  const script = `import { handler } from ${JSON.stringify(file)};
    const events = ${JSON.stringify(events)};
    const answers = [];
    const call = async () => {
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        const context = { awsRequestId: 'one', getRemainingTimeInMillis: () => 900_000 };
        const answer = await handler(event, context);
        answers.push(answer.statusCode ?? answer.batchItemFailures.length);
      }
    };
    await Promise.all(Array.from({ length: 15 }, call));
    process.stdout.write(JSON.stringify(answers), () => process.exit());`;
  const ofAws = Object.entries(readEnvironment()).filter(([name]) => name.startsWith('AWS_'));
  const output = await runProgram(script, {
    ...Object.fromEntries(ofAws),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
    AWS_ENDPOINT_URL_EVENTBRIDGE: 'http://127.0.0.1:1',
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'http://127.0.0.1:1/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'http://127.0.0.1:1/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_CONFIG_SECRET_ARN: 'config',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
  });
  return JSON.parse(output) as unknown[];
}

/** Reads of a manifest in each account. */
function toReads(module: string, resource: string, location: string): Event {
  const event = (account: string) => ({
    httpMethod: 'GET',
    resource,
    path: resource,
    headers: {},
    body: null,
    pathParameters: { account, location, name: 'configMap settings' },
    queryStringParameters: { includeEvents: 'false' },
  });
  return { module, events: names.map(event) };
}

const manifests = '/manifests/{account}/{location}';
const reads = toReads('api/manifests/get-manifest', `${manifests}/{name}`, 'shop');
const readsOfAnother = toReads('api/manifests/get-cluster-scoped-manifest', manifests, 'namespace shop');

/** Messages of tasks, one in each account, that delete what is not there. */
async function acceptTasks(): Promise<Event> {
  const client = new DynamoDBClient({ endpoint: dynamodb.url, region, credentials });
  const table = new ItemTable(client, tasksTable.name);
  const store = new DynamoTaskStore({ table, clock: systemClock, randomness: systemRandomness });
  const events = [];
  for (const account of names) {
    const description = { account, manifestName: 'configMap gone', location: 'shop' };
    const { task } = await store.accept({
      id: systemRandomness.id(),
      requestId: '',
      account,
      accounts: [account],
      isRestricted: false,
      caller: {},
      operations: [{ provider: 'kubernetes', name: 'deleteManifest', description }],
      entry: { key: 'accept', lines: [{ phase: 'ORCHESTRATION', status: 'accepted' }] },
    });
    const body = JSON.stringify({ taskId: task.id });
    const attributes = { ApproximateReceiveCount: '1' };
    events.push({ Records: [{ messageId: account, receiptHandle: account, body, attributes }] });
  }
  client.destroy();
  return { module: 'workers/run-operations', events };
}

/** How often each was asked for. */
function countBy(action: SeenCall['action'], parameter: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const call of aws.calls.filter((one) => one.action === action)) {
    const name = call.parameters[parameter] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const most = (counts: ReadonlyMap<string, number>): number => Math.max(0, ...counts.values());

describe(`a release with ${clusterCount} EKS clusters over ${roleCount} roles`, () => {
  it('asks EKS for each cluster once, however many environments start at once, and the next one not at all', async () => {
    placeClusters();
    aws.describeLimit.burst = 12;
    aws.describeLimit.perSecond = 6;
    const environments = [reads, await acceptTasks(), await acceptTasks()];

    const answers = await Promise.all(environments.map(runEnvironment));

    expect(answers[0]).toEqual(names.map(() => 200));
    for (const some of answers.slice(1)) expect(some).toEqual(names.map(() => 0));
    const describes = countBy('DescribeCluster', 'name');
    expect(describes.size).toBe(clusterCount);
    expect(most(describes)).toBeLessThanOrEqual(2);
    // Sessions of roles are secrets: each environment has its own, one a role.
    const assumed = countBy('AssumeRole', 'RoleArn');
    expect(assumed.size).toBe(roleCount);
    expect(most(assumed)).toBeLessThanOrEqual(environments.length);
    expect(aws.countCalls('GetSecretValue')).toBe(environments.length);
    expect(signers.size).toBe(environments.length * roleCount);

    aws.calls.splice(0);

    expect(await runEnvironment(readsOfAnother)).toEqual(names.map(() => 200));
    expect(aws.countCalls('DescribeCluster')).toBe(0);
    expect(most(countBy('AssumeRole', 'RoleArn'))).toBe(1);
  });
});

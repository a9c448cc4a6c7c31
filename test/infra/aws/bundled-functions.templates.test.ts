import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import document from '#docs/openapi.json' with { type: 'json' };
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { getBundle } from '#infra/aws/bundling/bundles.ts';
import { tables as allTables } from '#platform/aws/tables.ts';
import { readEnvironment } from '#platform/config.ts';
import {
  answerJson,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, readToken, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import { listenLocally } from '#test/support/network/local-server.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { runProgram, writeBundle } from '#test/support/system/function-bundles.ts';

const root = join(import.meta.dirname, '../../..');

/** Runs a program of Node's. */
const runNode = (args: readonly string[]) => promisify(execFile)(process.execPath, args);

let aws: AwsEndpoints;
let server: ScriptedServer;
let tables: TempDir;
let dynamodb: Awaited<ReturnType<typeof startDynamoDb>>;

beforeEach(async () => {
  tables = await makeTempDir();
  dynamodb = await startDynamoDb({ dir: tables.path, tables: allTables });
});
disposeAfterEach(() => [dynamodb, tables]);

/** Where only the bundle of one function is, far from any package. */
beforeEach(async () => {
  aws = await startAwsEndpoints();
  server = await startScriptedServer();
});
disposeAfterEach(() => [server, aws]);

interface Answer {
  readonly statusCode: number;
  readonly body: string;
}

/** What the handler of a module answers in a process of its own. */
async function invoke(module: string, request: object): Promise<Answer> {
  const lines = await run(module, request);
  return JSON.parse(lines.at(-1) ?? '') as Answer;
}

/** The metrics that the handler of a module tells, whether it fails or not. */
async function listMetrics(module: string, request: object = {}): Promise<object[]> {
  const lines = await run(module, request, { isAnswered: false });
  return lines.filter((line) => line.includes('_aws')).map((line) => JSON.parse(line) as object);
}

/** What the handler of a module writes in a process of its own, as Lambda would run it: with what its row grants it. */
async function run(
  module: string,
  request: object,
  { isAnswered = true, logLevel = 'SILENT' } = {},
): Promise<string[]> {
  const file = await writeBundle(module, aws.dir);
  const ofAws = Object.entries(readEnvironment()).filter(([name]) => name.startsWith('AWS_'));
  const { method: httpMethod, path: resource } = routes.find((row) => row.module === module) ?? {};
  const event = { headers: {}, httpMethod, resource, path: resource, body: null, ...request };
  const script = `import { handler } from ${JSON.stringify(file)};
    process.stderr.write = process.stdout.write.bind(process.stdout);
    const context = { awsRequestId: 'one', getRemainingTimeInMillis: () => 20_000 };
    const answer = await handler(${JSON.stringify(event)}, context)${isAnswered ? '' : '.catch(() => null)'};
    process.stdout.write('\\n' + JSON.stringify(answer ?? null), () => process.exit());`;
  const uses = getUses(module);
  const output = await runProgram(script, {
    ...Object.fromEntries(ofAws),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    ...(uses.includes('readAccounts') && { BUSDRIVER_CONFIG_SECRET_ARN: 'config' }),
    ...(uses.includes('readArtifactAccounts') && { BUSDRIVER_ARTIFACTS_SECRET_ARN: 'artifacts' }),
    BUSDRIVER_LOG_LEVEL: logLevel,
    AWS_LAMBDA_FUNCTION_NAME: `busdriver-dev-${module.split('/').at(-1)}`,
  });
  return output.split('\n');
}

function getUses(module: string): readonly string[] {
  const letters = queues.map((row) => ({ module: row.deadLetterModule, uses: row.deadLetterUses }));
  return [...routes, ...schedules, ...letters].find((row) => row.module === module)?.uses ?? [];
}

/** Gives both secrets their values, as an operator does. */
function configure(settings: object, artifacts: object = {}): void {
  aws.secrets.set('config', { SecretString: JSON.stringify(settings) });
  aws.secrets.set('artifacts', { SecretString: JSON.stringify(artifacts) });
}

/** Publishes the account facts of these. Agents are not cached: there is nobody to run them. */
async function publish(settings: object, artifacts: object = {}): Promise<void> {
  configure(
    { ...settings, kubernetes: { cache: { enabled: false }, ...getKubernetes(settings) } },
    artifacts,
  );
  await invoke('workers/schedule-agents', {});
  configure(settings, artifacts);
  aws.calls.splice(0);
}

function getKubernetes(settings: object): object {
  return 'kubernetes' in settings ? Object(settings.kubernetes) : {};
}

/** Settings with an account of an EKS cluster, which is where the server is. */
function placeCluster(): object {
  const certificateAuthority = { data: toBase64(server.authority.certificate) };
  aws.clusters.set('shop', { endpoint: server.url, certificateAuthority, status: 'ACTIVE' });
  return { kubernetes: { accounts: [{ name: 'prod', eks: { cluster: 'shop' } }] } };
}

describe('a function with nothing but its bundle', () => {
  it('answers', async () => {
    const answer = await invoke('api/health/get-health', {});
    expect(answer).toMatchObject({ statusCode: 200, body: '{"status":"UP"}' });
  });

  it('has the document of the API in it', async () => {
    const answer = await invoke('api/docs/get-api-docs', {});
    expect(JSON.parse(answer.body)).toEqual(document);
  });

  it('without secrets answers 503 until the account facts are published', async () => {
    const answer = await invoke('api/credentials/list-credentials', {});
    expect(answer.statusCode).toBe(503);
    expect(JSON.parse(answer.body).message).toBe(
      'The settings cannot be used: account facts are not published yet: the function schedule-agents publishes them each minute, or its log says why not',
    );
  });

  it('logs where an error comes from, which its source maps tell by the lines of the sources', async () => {
    const module = 'api/credentials/list-credentials';
    const lines = await run(module, {}, { logLevel: 'ERROR' });
    const logged = lines.find((line) => line.includes('the settings cannot be used')) ?? '{}';
    for (const { name, contents } of getBundle(module).sourceMaps)
      await writeFile(join(aws.dir, name), contents);
    const onLambda = logged.replaceAll(/file:[^"\s]*\/(?=[\w-]+\.mjs)/g, 'file:///var/task/');

    const told = runNode([join(root, 'infra/tools/build/stack-traces-main.ts'), aws.dir]);
    told.child.stdin?.end(`${onLambda}\nat file:///var/task/of-another-release.mjs:1:2\n`);
    const [translated = '', unknown] = (await told).stdout.split('\n');

    const { stack } = (JSON.parse(translated) as { error: { stack: string } }).error;
    const [top = ''] = stack.split('\n').filter((line) => line.startsWith('    at '));
    const [, file = '', line] = /([\w./-]+\.ts):(\d+):\d+\)?$/.exec(top) ?? [];
    const source = readFileSync(join(root, file), 'utf8');
    expect(source.split('\n')[Number(line) - 1]).toContain('throw new');
    expect(stack).not.toContain('.mjs');
    expect(unknown).toBe('at file:///var/task/of-another-release.mjs:1:2');
  });

  it('lists accounts without reading a secret', async () => {
    await publish(placeCluster(), { artifacts: { http: { enabled: true, accounts: [{ name: 'web' }] } } });

    const accounts = await invoke('api/credentials/list-credentials', {});
    const artifacts = await invoke('api/artifacts/list-artifact-credentials', {});
    const stages = await invoke('api/features/list-stages', {});

    expect(JSON.parse(accounts.body)).toMatchObject([{ name: 'prod', type: 'kubernetes' }]);
    expect(JSON.parse(artifacts.body)).toContainEqual({
      ...{ name: 'web', type: 'artifacts-http', types: ['http/file'] },
    });
    expect(JSON.parse(stages.body)).toContainEqual({ name: 'deployManifest', enabled: true });
    expect(aws.calls).toEqual([]);
  });

  it('refuses what no account allows, without reading a secret', async () => {
    await publish(placeCluster());
    const description = { account: 'prodd', manifests: [] };
    const body = JSON.stringify([{ deployManifest: description }]);
    const request = { httpMethod: 'POST', pathParameters: { cloudProvider: 'kubernetes' }, body };

    const answer = await invoke('api/operations/start-operations', request);

    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain('prodd');
    expect(aws.calls).toEqual([]);
  });

  it('that publishes account facts reads both secrets, each for what it is for', async () => {
    const web = { http: { enabled: true, accounts: [{ name: 'web' }] } };
    const misplaced = { github: { enabled: true, accounts: [{ name: 'hub' }] } };

    configure({ artifacts: misplaced }, { artifacts: web, kubernetes: { accounts: [{ name: 'lost' }] } });
    await invoke('workers/schedule-agents', {});

    const artifacts = await invoke('api/artifacts/list-artifact-credentials', {});
    const names = JSON.parse(artifacts.body).map(({ name }: { name: string }) => name);
    expect(names).toContain('web');
    expect(names).not.toContain('hub');
    expect(JSON.parse((await invoke('api/credentials/list-credentials', {})).body)).toEqual([]);
    expect(aws.calls.map(({ parameters }) => parameters['SecretId']).sort()).toEqual(['artifacts', 'config']);
  });

  it('fails to publish what is wrong, so that its alarm rings, and others go on with what was published before', async () => {
    await publish(placeCluster());
    aws.secrets.set('config', { SecretString: 'kubernetes: [planted' });

    const published = await invoke('workers/schedule-agents', {}).catch(String);

    expect(published).toContain('The settings cannot be used: secret config:1');
    expect(published).not.toContain('planted');
    const accounts = await invoke('api/credentials/list-credentials', {});
    expect(JSON.parse(accounts.body)).toMatchObject([{ name: 'prod' }]);
  });

  it('tells how settings and accounts are, and in a state that nobody can use, what it knows', async () => {
    const cache = { enabled: false };
    configure({
      kubernetes: {
        cache,
        accounts: [
          { name: 'prod', eks: {} },
          { name: 'edge', eks: {} },
        ],
      },
    });
    const schedules = 'busdriver-dev-schedule-agents';
    expect(await listMetrics('workers/schedule-agents')).toMatchObject([
      { SettingsUnusable: 0, FunctionName: schedules },
      { RejectedAccounts: 2, RejectedAccountShare: 100 },
      { StaleAccounts: 0, StaleAccountShare: 0 },
    ]);

    aws.secrets.set('config', { SecretString: 'kubernetes: [planted' });
    expect(await listMetrics('workers/schedule-agents')).toMatchObject([{ SettingsUnusable: 1 }]);
  });

  it.each([
    ['settle-dead-letters', { taskId: '01J000000000000000000000AA' }],
    ['drop-agent-messages', { agents: [{ account: 'gone', name: 'core' }], dueMs: 5 }],
    ['drop-stream-messages', { agents: [{ account: 'gone', name: 'core' }] }],
  ])('tells as %s why a message is a dead letter', async (name, message) => {
    const attributes = { ApproximateReceiveCount: '6' };
    const record = { messageId: 'm1', receiptHandle: 'r1', body: JSON.stringify(message), attributes };
    const metrics = await listMetrics(`workers/${name}`, { Records: [record] });
    expect(metrics).toMatchObject([
      {
        _aws: { CloudWatchMetrics: [{ Dimensions: [['FunctionName', 'Reason']] }] },
        ...{ FunctionName: `busdriver-dev-${name}`, Reason: 'settled', DeadLetters: 1 },
      },
    ]);
  });

  it('reads from an EKS cluster, for which it loads what presigns tokens and the HTTP client', async () => {
    const metadata = { name: 'settings', namespace: 'shop', uid: 'u1' };
    server.script(answerJson(200, { apiVersion: 'v1', kind: 'ConfigMap', metadata }));
    const pathParameters = { account: 'prod', location: 'shop', name: 'configMap settings' };
    const queryStringParameters = { includeEvents: 'false' };

    configure(placeCluster());

    const answer = await invoke('api/manifests/get-manifest', { pathParameters, queryStringParameters });

    expect(JSON.parse(answer.body)).toMatchObject({ account: 'prod', manifest: { metadata } });
    expect(aws.calls.map(({ action }) => action)).toEqual(['GetSecretValue', 'DescribeCluster']);
    const [seen] = server.seen;
    expect(seen?.path).toBe('/api/v1/namespaces/shop/configmaps/settings');
    expect(readToken(seen?.headers.authorization?.replace('Bearer ', '') ?? '').accessKeyId).toBe('AKIAOWN');
  });

  it('downloads an artifact, for which it loads what connects to allowed addresses only', async () => {
    const source = createServer((_, response) => response.end('kind: ConfigMap'));
    const port = await listenLocally(source);
    const accounts = [{ name: 'web', urlRestrictions: { allowedIps: ['127.0.0.1'] } }];
    const reference = `http://127.0.0.1:${port}/manifest.yml`;
    const settings = { artifacts: { http: { enabled: true, accounts } } };
    const body = JSON.stringify({ type: 'http/file', artifactAccount: 'web', reference });

    await publish(placeCluster());
    configure({}, settings);

    const answer = await invoke('api/artifacts/fetch-artifact', { body });
    source.closeAllConnections();
    source.close();

    expect(answer.statusCode, answer.body).toBe(200);
    expect(Buffer.from(answer.body, 'base64').toString()).toBe('kind: ConfigMap');
    expect(aws.calls.map(({ parameters }) => parameters['SecretId'])).toEqual(['artifacts']);
  });

  it.each(['workers/run-operations', 'workers/settle-dead-letters', 'authorizers/check-shared-secret'])(
    'exports the handler of %s',
    async (module) => {
      const file = await writeBundle(module, aws.dir);
      const script = `import { handler } from ${JSON.stringify(file)};console.log(typeof handler);process.exit()`;
      expect(await runProgram(script, {})).toBe('function\n');
    },
  );
});

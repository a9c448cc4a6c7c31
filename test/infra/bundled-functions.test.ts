import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readEnvironment } from '../../shared/runtime/config.ts';
import {
  answerJson,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '../shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, readToken, startAwsEndpoints } from '../support/aws-endpoints.ts';
import { runProgram, writeBundle } from '../support/function-bundles.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';

let dir: TempDir;
let aws: AwsEndpoints;
let server: ScriptedServer;

/** Where only the bundle of one function is, far from any package. */
beforeEach(async () => {
  dir = await makeTempDir();
  aws = await startAwsEndpoints(dir.path);
  server = await startScriptedServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await aws[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

interface Answer {
  readonly statusCode: number;
  readonly body: string;
}

/** What the handler of a module answers in a process of its own, as Lambda would run it. */
async function invoke(module: string, request: object, settings: object = {}): Promise<Answer> {
  const file = await writeBundle(module, dir.path);
  aws.secrets.set('config', { SecretString: JSON.stringify(settings) });
  const ofAws = Object.entries(readEnvironment()).filter(([name]) => name.startsWith('AWS_'));
  const event = { headers: {}, httpMethod: 'GET', body: null, ...request };
  const script = `import { handler } from ${JSON.stringify(file)};
    const context = { awsRequestId: 'one', getRemainingTimeInMillis: () => 20_000 };
    const answer = JSON.stringify(await handler(${JSON.stringify(event)}, context));
    process.stdout.write(answer, () => process.exit());`;
  const output = await runProgram(script, {
    ...Object.fromEntries(ofAws),
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_CONFIG_SECRET_ARN: 'config',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
  });
  return JSON.parse(output) as Answer;
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

    expect(JSON.parse(answer.body)).toMatchObject({ paths: { '/credentials': { get: {} } } });
  });

  it('lists accounts, for which it loads what reads secrets', async () => {
    const answer = await invoke('api/credentials/list-credentials', {}, placeCluster());

    expect(JSON.parse(answer.body)).toMatchObject([{ name: 'prod', type: 'kubernetes' }]);
    expect(aws.calls.map(({ action }) => action)).toEqual(['GetSecretValue']);
  });

  it('reads from an EKS cluster, for which it loads what presigns tokens and the HTTP client', async () => {
    const metadata = { name: 'settings', namespace: 'shop', uid: 'u1' };
    server.script(answerJson(200, { apiVersion: 'v1', kind: 'ConfigMap', metadata }));
    const pathParameters = { account: 'prod', location: 'shop', name: 'configMap settings' };
    const queryStringParameters = { includeEvents: 'false' };

    const answer = await invoke(
      'api/manifests/get-manifest',
      { pathParameters, queryStringParameters },
      placeCluster(),
    );

    expect(JSON.parse(answer.body)).toMatchObject({ account: 'prod', manifest: { metadata } });
    expect(aws.calls.map(({ action }) => action)).toEqual(['GetSecretValue', 'DescribeCluster']);
    const [seen] = server.seen;
    expect(seen?.path).toBe('/api/v1/namespaces/shop/configmaps/settings');
    expect(readToken(seen?.headers.authorization?.replace('Bearer ', '') ?? '').accessKeyId).toBe('AKIAOWN');
  });

  it('downloads an artifact, for which it loads what connects to allowed addresses only', async () => {
    const source = createServer((_, response) => response.end('kind: ConfigMap'));
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    const { port } = source.address() as AddressInfo;
    const accounts = [{ name: 'web', urlRestrictions: { allowedIps: ['127.0.0.1'] } }];
    const reference = `http://127.0.0.1:${port}/manifest.yml`;
    const settings = { artifacts: { http: { enabled: true, accounts } } };
    const body = JSON.stringify({ type: 'http/file', artifactAccount: 'web', reference });

    const answer = await invoke('api/artifacts/fetch-artifact', { body }, settings);
    source.closeAllConnections();
    source.close();

    expect(answer.statusCode, answer.body).toBe(200);
    expect(Buffer.from(answer.body, 'base64').toString()).toBe('kind: ConfigMap');
  });

  it.each(['workers/run-operations', 'workers/settle-dead-letters', 'authorizers/check-shared-secret'])(
    'exports the handler of %s',
    async (module) => {
      const file = await writeBundle(module, dir.path);
      const script = `import { handler } from ${JSON.stringify(file)};console.log(typeof handler);process.exit()`;

      expect(await runProgram(script, {})).toBe('function\n');
    },
  );
});

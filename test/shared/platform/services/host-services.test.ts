import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { readEnvironment } from '#platform/config.ts';
import type { ProviderOptions } from '#provider-kit/provider.ts';
import { KubernetesSession } from '#providers/kubernetes/account/session.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, readToken, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { writeProgram } from '#test/support/run/temp-dir.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const roleArn = 'arn:aws:iam::111122223333:role/deployer';
const minute = 60_000;

let aws: AwsEndpoints;
let server: ScriptedServer;
let clock: TestClock;
let session: KubernetesSession | undefined;
let logged: string;

beforeEach(async () => {
  aws = await startAwsEndpoints();
  server = await startScriptedServer();
  clock = createTestClock();
  logged = '';
});
afterEach(async () => {
  await session?.[Symbol.asyncDispose]();
  session = undefined;
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await aws[Symbol.asyncDispose]();
});

/** The client of the one account `prod`, as a deployed function makes it. */
async function openClient(
  account: JsonObject,
  options: Partial<ProviderOptions> = {},
): Promise<KubernetesClient> {
  const write = (...line: unknown[]): void => {
    logged += JSON.stringify(line);
  };
  session = new KubernetesSession({
    settings: { kubernetes: { accounts: [{ name: 'prod', ...account }] } },
    clock,
    randomness: testRandomness,
    log: { debug: write, info: write, warn: write, error: write },
    placement: 'deployed',
    environment: readEnvironment(),
    services: createTestHost({ clock }),
    ...options,
  });
  expect(session.rejectedAccounts).toEqual([]);
  const found = session.findAccount('prod');
  if (found === undefined) throw new Error('there is no such account');
  return session.getClient(found);
}

/** Has EKS say that the cluster is where the server is. */
function placeCluster(at = server): void {
  aws.clusters.set('shop', {
    endpoint: at.url,
    certificateAuthority: { data: toBase64(at.authority.certificate) },
    status: 'ACTIVE',
  });
}

/** Tokens of the requests so far, read. */
function seenTokens(at = server) {
  return at.seen.map(({ headers }) => readToken(headers.authorization?.replace('Bearer ', '') ?? ''));
}

function getPlugin(env: Record<string, string> = {}, ...args: string[]): object {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' };
  const list = Object.entries(env).map(([name, value]) => ({ name, value }));
  return { exec: { ...exec, args: ['eks', 'get-token', '--cluster-name', 'shop', ...args], env: list } };
}

describe('an account that names an EKS cluster', () => {
  test('needs nothing else', async () => {
    placeCluster();
    const client = await openClient({ eks: { cluster: 'shop' } });
    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));
    const tokens = seenTokens();
    expect(new Set(tokens.map(({ url }) => url.href)).size).toBe(1);
    expect(tokens[0]?.accessKeyId).toBe('AKIAOWN');
    expect(tokens[0]?.url.hostname).toBe('sts.eu-west-1.amazonaws.com');
    expect(aws.calls.map(({ action }) => action)).toEqual(['DescribeCluster']);
  });

  test('is reached as a role, in its region', async () => {
    placeCluster();
    aws.roles.set(roleArn, 3600);
    const how = { 'role-arn': roleArn, sessionName: 'ci', externalId: 'x1' };
    const client = await openClient({ eks: { cluster: 'shop', region: 'us-west-2', ...how } });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('ASIA1');
    expect(aws.calls).toMatchObject([
      { action: 'AssumeRole', region: 'us-west-2', parameters: { RoleSessionName: 'ci', ExternalId: 'x1' } },
      { action: 'DescribeCluster', region: 'us-west-2', accessKeyId: 'ASIA1' },
    ]);
  });

  test('gets a new token before the old one ends, without asking EKS again', async () => {
    placeCluster();
    const client = await openClient({ eks: { cluster: 'shop' } });
    for (const passed of [0, 12, 3, 14]) {
      clock.advance(passed * minute);
      await Promise.all(Array.from({ length: 10 }, () => client.getText('/livez')));
    }
    const times = seenTokens().map(({ url }) => url.searchParams.get('X-Amz-Date'));
    expect(new Set(times).size).toBe(3);
    expect(aws.calls).toHaveLength(1);
  });

  test('gets a new token, of a role assumed anew, when the server refuses one', async () => {
    placeCluster();
    aws.roles.set(roleArn, 3600);
    const client = await openClient({ eks: { cluster: 'shop', roleArn } });
    await client.getText('/livez');
    clock.advance(minute);
    server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    const keys = seenTokens().map(({ accessKeyId }) => accessKeyId);
    expect(keys).toEqual(['ASIA1', 'ASIA1', expect.stringMatching(/ASIA[34]/)]);
    expect(aws.countCalls('AssumeRole')).toBe(2);
  });

  test('is found where it is after it was made anew', async () => {
    placeCluster();
    const client = await openClient({ eks: { cluster: 'shop' } });
    await client.getText('/livez');
    await server[Symbol.asyncDispose]();
    server = await startScriptedServer();
    placeCluster();
    clock.advance(minute);
    await client.getText('/livez');
    expect(server.seen).toHaveLength(1);
    expect(aws.countCalls('DescribeCluster')).toBe(2);
  });

  test.each([
    [{ cluster: 'shop', roleArn }, `cannot assume the role ${roleArn}: AccessDenied`, 'trust policy'],
    [
      { cluster: 'ship' },
      'cannot look up the EKS cluster "ship" in eu-west-1: ResourceNotFoundException',
      'check its name',
    ],
  ])('says what is wrong, by its name: %j', async (eks, problem, advice) => {
    const client = await openClient({ eks });
    const message = await client.getText('/livez').catch((error: Error) => error.message);
    for (const each of [`account "prod": ${problem}`, advice]) expect(message).toContain(each);
    expect(server.seen).toEqual([]);
  });

  test.each([
    [{}, 'give the IAM identity of this process an access entry in the EKS cluster "shop"'],
    [{ roleArn }, `give the role ${roleArn} an access entry in the EKS cluster "shop"`],
  ])('says who needs an access entry: %j', async (more, advice) => {
    placeCluster();
    aws.roles.set(roleArn, 3600);
    server.script(answerStatus(401, 'Unauthorized'));
    const client = await openClient({ eks: { cluster: 'shop', ...more } });
    await expect(client.getText('/livez')).rejects.toThrow(
      `the API server refuses the credentials of account "prod" (context "eks/shop"); ${advice}`,
    );
  });

  test('says that a process without AWS cannot reach it', async () => {
    const client = await openClient({ eks: { cluster: 'shop' } }, { services: {} });
    await expect(client.getText('/livez')).rejects.toThrow(
      'account "prod": this process was given no way to ask AWS',
    );
  });
});

describe('a kubeconfig that runs aws eks get-token', () => {
  test.each(['deployed', 'local'] as const)('needs no program: %s', async (placement) => {
    aws.roles.set(roleArn, 3600);
    const kubeconfigContents = server.getKubeconfig({ user: getPlugin({}, '--role-arn', roleArn) });
    const environment = { ...readEnvironment(), PATH: '/nowhere' };
    const client = await openClient({ kubeconfigContents }, { placement, environment });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('ASIA1');
    expect(aws.calls[0]?.parameters['RoleSessionName']).toBe('EKSGetTokenAuth');
  });

  test('locally takes a profile', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    const keys = '[team]\naws_access_key_id=AKIATEAM\naws_secret_access_key=s\n';
    await writeFile(join(aws.dir, 'aws-credentials'), keys);
    const kubeconfigContents = server.getKubeconfig({ user: getPlugin({ AWS_PROFILE: 'team' }) });
    const client = await openClient({ kubeconfigContents }, { placement: 'local' });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('AKIATEAM');
  });

  test('locally leaves to the program what only it understands', async () => {
    await writeProgram(join(aws.dir, 'aws'), `echo '{"status":{"token":"from-the-program"}}'`);
    const user = getPlugin({}, '--endpoint-url', 'https://sts.example.com');
    const environment = { ...readEnvironment(), PATH: `${aws.dir}:/usr/bin:/bin` };
    const kubeconfigContents = server.getKubeconfig({ user });
    const client = await openClient({ kubeconfigContents }, { placement: 'local', environment });
    await client.getText('/livez');
    expect(server.seen[0]?.headers.authorization).toBe('Bearer from-the-program');
  });

  test.each([
    [getPlugin({ AWS_PROFILE: 'team' }), 'a profile'],
    [getPlugin({}, '--profile', 'team'), 'a profile'],
    [getPlugin({ AWS_SECRET_ACCESS_KEY: 'planted' }, '--debug'), '--debug, AWS_SECRET_ACCESS_KEY'],
  ])('deployed is refused, by name, with what needs the program: %j', async (user, refused) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    const client = await openClient({ kubeconfigContents: server.getKubeconfig({ user }) });
    await expect(client.getText('/livez')).rejects.toThrow(
      `account "prod": its kubeconfig runs aws with ${refused}, which deployed functions refuse: ` +
        'give the name of the cluster, and if need be a region and a role',
    );
  });
});

describe('a kubeconfig in Secrets Manager', () => {
  const planted = 'planted-token-77';

  test.each([
    [{ kubeconfigSecret: 'team/kube' }, 'team/kube', (text: string) => text],
    [{ kubeconfigFile: 'encryptedFile:secrets-manager!r:eu-west-1!s:kube' }, 'kube', (text: string) => text],
    [
      { kubeconfigContents: 'encrypted:secrets-manager!r:eu-west-1!s:kube!k:prod' },
      'kube',
      (text: string) => JSON.stringify({ prod: text }),
    ],
  ])('is used: %j', async (account, name, wrap) => {
    aws.secrets.set(name, { SecretString: wrap(server.getKubeconfig({ user: { token: planted } })) });
    const client = await openClient({ ...account, context: 'dev' });
    await client.getText('/livez');
    await client.getText('/livez');
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${planted}`);
    expect(aws.calls).toHaveLength(1);
  });

  test('is read again when its token is refused', async () => {
    aws.secrets.set('kube', { SecretString: server.getKubeconfig({ user: { token: 'old' } }) });
    const client = await openClient({ kubeconfigSecret: 'kube' });
    await client.getText('/livez');
    aws.secrets.set('kube', { SecretString: server.getKubeconfig({ user: { token: 'new' } }) });
    clock.advance(minute);
    server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    const sent = server.seen.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
  });

  test.each([
    [{ SecretString: `users: [\n  token: ${planted}` }, 'account "prod": secret kube: it is not valid YAML'],
    [{ SecretString: `{"clusters":["${planted}"]}` }, 'account "prod": secret kube: no context is chosen'],
    [
      { status: 400, code: 'AccessDeniedException', message: 'No.' },
      'account "prod": cannot read the secret kube in eu-west-1: AccessDeniedException: No.: allow secretsmanager:GetSecretValue',
    ],
  ])('that is of no use says why and does not show itself: %j', async (secret, message) => {
    aws.secrets.set('kube', secret);
    const client = await openClient({ kubeconfigSecret: 'kube' });
    const error = await client.getText('/livez').catch((thrown: Error) => thrown);
    expect(String(error)).toContain(message);
    expect(`${String(error)}${logged}`).not.toContain(planted);
  });
});

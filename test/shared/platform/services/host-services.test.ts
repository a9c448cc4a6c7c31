import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readEnvironment } from '#platform/config.ts';
import {
  answerJson,
  answerStatus,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { readToken } from '#test/support/engines/aws-endpoints.ts';
import { writeProgram } from '#test/support/run/temp-dir.ts';
import { DeployedAccounts } from './deployed-accounts.ts';

const roleArn = 'arn:aws:iam::111122223333:role/deployer';
const minute = 60_000;

const world = new DeployedAccounts();

/** Tokens of the requests so far, read. */
function seenTokens(at = world.server) {
  return at.seen.map(({ headers }) => readToken(headers.authorization?.replace('Bearer ', '') ?? ''));
}

function getPlugin(env: Record<string, string> = {}, ...args: string[]): object {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' };
  const list = Object.entries(env).map(([name, value]) => ({ name, value }));
  return { exec: { ...exec, args: ['eks', 'get-token', '--cluster-name', 'shop', ...args], env: list } };
}

describe('an account that names an EKS cluster', () => {
  test('needs nothing else', async () => {
    world.placeCluster();
    const client = await world.openClient({ eks: { cluster: 'shop' } });
    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));
    const tokens = seenTokens();
    expect(new Set(tokens.map(({ url }) => url.href)).size).toBe(1);
    expect(tokens[0]?.accessKeyId).toBe('AKIAOWN');
    expect(tokens[0]?.url.hostname).toBe('sts.eu-west-1.amazonaws.com');
    expect(world.aws.calls.map(({ action }) => action)).toEqual(['DescribeCluster']);
  });

  test('is reached as a role, in its region', async () => {
    world.placeCluster();
    world.aws.roles.set(roleArn, 3600);
    const how = { 'role-arn': roleArn, sessionName: 'ci', externalId: 'x1' };
    const client = await world.openClient({ eks: { cluster: 'shop', region: 'us-west-2', ...how } });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('ASIA1');
    expect(world.aws.calls).toMatchObject([
      { action: 'AssumeRole', region: 'us-west-2', parameters: { RoleSessionName: 'ci', ExternalId: 'x1' } },
      { action: 'DescribeCluster', region: 'us-west-2', accessKeyId: 'ASIA1' },
    ]);
  });

  test('gets a new token before the old one ends, without asking EKS again', async () => {
    world.placeCluster();
    const client = await world.openClient({ eks: { cluster: 'shop' } });
    for (const passed of [0, 12, 3, 14]) {
      world.clock.advance(passed * minute);
      await Promise.all(Array.from({ length: 10 }, () => client.getText('/livez')));
    }
    const times = seenTokens().map(({ url }) => url.searchParams.get('X-Amz-Date'));
    expect(new Set(times).size).toBe(3);
    expect(world.aws.calls).toHaveLength(1);
  });

  test('gets a new token, of a role assumed anew, when the server refuses one', async () => {
    world.placeCluster();
    world.aws.roles.set(roleArn, 3600);
    const client = await world.openClient({ eks: { cluster: 'shop', roleArn } });
    await client.getText('/livez');
    world.clock.advance(minute);
    world.server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    const keys = seenTokens().map(({ accessKeyId }) => accessKeyId);
    expect(keys).toEqual(['ASIA1', 'ASIA1', expect.stringMatching(/ASIA[34]/)]);
    expect(world.aws.countCalls('AssumeRole')).toBe(2);
  });

  test('is found where it is after it was made anew', async () => {
    world.placeCluster();
    const client = await world.openClient({ eks: { cluster: 'shop' } });
    await client.getText('/livez');
    await world.server[Symbol.asyncDispose]();
    world.server = await startScriptedServer();
    world.placeCluster();
    world.clock.advance(minute);
    await client.getText('/livez');
    expect(world.server.seen).toHaveLength(1);
    expect(world.aws.countCalls('DescribeCluster')).toBe(2);
  });

  test.each([
    [{ cluster: 'shop', roleArn }, `cannot assume the role ${roleArn}: AccessDenied`, 'trust policy'],
    [
      { cluster: 'ship' },
      'cannot look up the EKS cluster "ship" in eu-west-1: ResourceNotFoundException',
      'check its name',
    ],
  ])('says what is wrong, by its name: %j', async (eks, problem, advice) => {
    const client = await world.openClient({ eks });
    const message = await client.getText('/livez').catch((error: Error) => error.message);
    for (const each of [`account "prod": ${problem}`, advice]) expect(message).toContain(each);
    expect(world.server.seen).toEqual([]);
  });

  test.each([
    [{}, 'give the IAM identity of this process an access entry in the EKS cluster "shop"'],
    [{ roleArn }, `give the role ${roleArn} an access entry in the EKS cluster "shop"`],
  ])('says who needs an access entry: %j', async (more, advice) => {
    world.placeCluster();
    world.aws.roles.set(roleArn, 3600);
    world.server.script(answerStatus(401, 'Unauthorized'));
    const client = await world.openClient({ eks: { cluster: 'shop', ...more } });
    await expect(client.getText('/livez')).rejects.toThrow(
      `the API server refuses the credentials of account "prod" (context "eks/shop"); ${advice}`,
    );
  });

  test('says that a process without AWS cannot reach it', async () => {
    const client = await world.openClient({ eks: { cluster: 'shop' } }, { services: {} });
    await expect(client.getText('/livez')).rejects.toThrow(
      'account "prod": this process was given no way to ask AWS',
    );
  });
});

describe('a kubeconfig that runs aws eks get-token', () => {
  test.each(['deployed', 'local'] as const)('needs no program: %s', async (placement) => {
    world.aws.roles.set(roleArn, 3600);
    const kubeconfigContents = world.server.getKubeconfig({ user: getPlugin({}, '--role-arn', roleArn) });
    const environment = { ...readEnvironment(), PATH: '/nowhere' };
    const client = await world.openClient({ kubeconfigContents }, { placement, environment });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('ASIA1');
    expect(world.aws.calls[0]?.parameters['RoleSessionName']).toBe('EKSGetTokenAuth');
  });

  test('locally takes a profile', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    const keys = '[team]\naws_access_key_id=AKIATEAM\naws_secret_access_key=s\n';
    await writeFile(join(world.aws.dir, 'aws-credentials'), keys);
    const kubeconfigContents = world.server.getKubeconfig({ user: getPlugin({ AWS_PROFILE: 'team' }) });
    const client = await world.openClient({ kubeconfigContents }, { placement: 'local' });
    await client.getText('/livez');
    expect(seenTokens()[0]?.accessKeyId).toBe('AKIATEAM');
  });

  test('locally leaves to the program what only it understands', async () => {
    await writeProgram(join(world.aws.dir, 'aws'), `echo '{"status":{"token":"from-the-program"}}'`);
    const user = getPlugin({}, '--endpoint-url', 'https://sts.example.com');
    const environment = { ...readEnvironment(), PATH: `${world.aws.dir}:/usr/bin:/bin` };
    const kubeconfigContents = world.server.getKubeconfig({ user });
    const client = await world.openClient({ kubeconfigContents }, { placement: 'local', environment });
    await client.getText('/livez');
    expect(world.server.seen[0]?.headers.authorization).toBe('Bearer from-the-program');
  });

  test.each([
    [getPlugin({ AWS_PROFILE: 'team' }), 'a profile'],
    [getPlugin({}, '--profile', 'team'), 'a profile'],
    [getPlugin({ AWS_SECRET_ACCESS_KEY: 'planted' }, '--debug'), '--debug, AWS_SECRET_ACCESS_KEY'],
  ])('deployed is refused, by name, with what needs the program: %j', async (user, refused) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    const client = await world.openClient({ kubeconfigContents: world.server.getKubeconfig({ user }) });
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
    world.aws.secrets.set(name, {
      SecretString: wrap(world.server.getKubeconfig({ user: { token: planted } })),
    });
    const client = await world.openClient({ ...account, context: 'dev' });
    await client.getText('/livez');
    await client.getText('/livez');
    expect(world.server.seen[0]?.headers.authorization).toBe(`Bearer ${planted}`);
    expect(world.aws.calls).toHaveLength(1);
  });

  test('is read again when its token is refused', async () => {
    world.aws.secrets.set('kube', { SecretString: world.server.getKubeconfig({ user: { token: 'old' } }) });
    const client = await world.openClient({ kubeconfigSecret: 'kube' });
    await client.getText('/livez');
    world.aws.secrets.set('kube', { SecretString: world.server.getKubeconfig({ user: { token: 'new' } }) });
    world.clock.advance(minute);
    world.server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
    await client.getText('/livez');
    const sent = world.server.seen.map(({ headers }) => headers.authorization);
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
    world.aws.secrets.set('kube', secret);
    const client = await world.openClient({ kubeconfigSecret: 'kube' });
    const error = await client.getText('/livez').catch((thrown: Error) => thrown);
    expect(String(error)).toContain(message);
    expect(`${String(error)}${world.logged}`).not.toContain(planted);
  });
});

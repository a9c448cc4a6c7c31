import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { readEnvironment } from '#platform/config.ts';
import type { ProviderOptions } from '#provider-kit/provider.ts';
import { KubernetesSession } from '#providers/kubernetes/account/session.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import type { ScriptedServer } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { startScriptedServer, toBase64 } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';

const roleArn = 'arn:aws:iam::111122223333:role/deployer';

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
  const [client] = await openClients({ kubernetes: { accounts: [{ name: 'prod', ...account }] } }, options);
  if (client === undefined) throw new Error('there is no such account');
  return client;
}

/** The clients of all accounts in the settings. */
async function openClients(
  settings: JsonObject,
  options: Partial<ProviderOptions> = {},
): Promise<readonly KubernetesClient[]> {
  const write = (...line: unknown[]): void => {
    logged += JSON.stringify(line);
  };
  const opened = new KubernetesSession({
    settings,
    clock,
    randomness: testRandomness,
    log: { debug: write, info: write, warn: write, error: write },
    placement: 'deployed',
    environment: readEnvironment(),
    services: createTestHost({ clock, environment: readEnvironment() }),
    ...options,
  });
  session = opened;
  expect(opened.rejectedAccounts).toEqual([]);
  return Promise.all(opened.accounts.map((account) => opened.getClient(account)));
}

/** Has EKS say that the cluster is where the server is. */
function placeCluster(at = server): void {
  aws.clusters.set('shop', {
    endpoint: at.url,
    certificateAuthority: { data: toBase64(at.authority.certificate) },
    status: 'ACTIVE',
  });
}

describe('an account whose server is named by its address', () => {
  const token = 'encrypted:ssm!r:eu-west-1!n:/shop/token';
  const caData = 'encryptedFile:s3!r:eu-west-1!b:spin!f:shop/ca.pem';

  /** Places authorities and a token in S3 and Parameter Store. */
  const place = (value: string): void => {
    aws.objects.set('spin/shop/ca.pem', server.authority.certificate);
    aws.parameters.set('/shop/token', value);
  };

  test('takes its authorities and its token from secrets, when it is first used', async () => {
    place('first\n');
    const client = await openClient({ server: { host: server.url, caData, bearerToken: token } });
    expect(aws.calls).toEqual([]);

    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));

    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer first']),
    );
    expect(aws.calls.map(({ action }) => action).sort()).toEqual(['GetObject', 'GetParameter']);
  });

  test('reads them again when the token is refused, in the middle of an operation', async () => {
    place('first');
    server.script((response, { headers }) => {
      const isGood = headers.authorization === `Bearer ${valid}`;
      response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
    });
    let valid = 'first';
    const client = await openClient({ server: { host: server.url, caData, bearerToken: token } });
    await client.getText('/livez');

    clock.advance(20_000);
    valid = 'second';
    place(valid);
    await client.getText('/livez');

    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer second');
    expect(aws.countCalls('GetParameter')).toBe(2);
    expect(logged).not.toMatch(/first|second/);
  });

  test('reads them again after five minutes, in the background', async () => {
    place('first');
    const client = await openClient({ server: { host: server.url, caData, bearerToken: token } });
    await client.getText('/livez');
    place('second');
    clock.advance(301_000);

    await expect
      .poll(async () => {
        clock.advance(4_000);
        await client.getText('/livez');
        return server.seen.at(-1)?.headers.authorization;
      })
      .toBe('Bearer second');
  });

  test('asks its broker with a key that is a secret, and with the next one once that is refused', async () => {
    await using broker = await startTokenBroker(() => 'of-the-broker');
    aws.secrets.set('arcade', { SecretString: '{"key":"old-key"}' });
    aws.tags.set('arcade', { 'spinnaker:user-secret-type': 'opaque' });
    aws.objects.set('spin/shop/ca.pem', server.authority.certificate);
    broker.apiKey = 'old-key';
    const arcade = { url: broker.url, apiKey: 'secret://secrets-manager?r=eu-west-1&s=arcade&k=key' };
    const accounts = ['a', 'b'].map((name) => ({ name, server: { host: server.url, caData } }));
    const settings = { kubernetes: { accounts }, busdriver: { tokenBrokers: { arcade } } };
    const clients = await openClients(settings, { placement: 'local' });

    await Promise.all(clients.map((client) => client.getText('/livez')));
    expect(aws.countCalls('GetSecretValue')).toBe(1);
    expect(broker.calls).toHaveLength(1);
    clock.advance(120_000);
    broker.apiKey = 'new-key';
    aws.secrets.set('arcade', { SecretString: '{"key":"new-key"}' });
    await Promise.all(clients.map((client) => client.getText('/livez')));

    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer of-the-broker']),
    );
    expect(aws.countCalls('GetSecretValue')).toBe(2);
    expect(logged).not.toMatch(/(old|new)-key|of-the-broker/);
  });
});

test('a role is assumed with an external id that is a secret', async () => {
  placeCluster();
  aws.roles.set(roleArn, 3600);
  aws.secrets.set('external', { SecretString: 'of-a-secret' });
  const externalId = 'encrypted:secrets-manager!r:eu-west-1!s:external';
  const client = await openClient({ eks: { cluster: 'shop', roleArn, externalId } });

  await client.getText('/livez');

  const assumed = aws.calls.filter(({ action }) => action === 'AssumeRole');
  expect(new Set(assumed.map(({ parameters }) => parameters['ExternalId']))).toEqual(
    new Set(['of-a-secret']),
  );
});

test.each(['s3', 'ssm', 'secrets-manager', 'secret'])(
  'a kubeconfig comes from the secret engine %s, in memory alone',
  async (engine) => {
    const kubeconfig = server.getKubeconfig({ user: { token: 'of-a-kubeconfig' } });
    aws.objects.set('spin/kube', kubeconfig);
    aws.parameters.set('kube', kubeconfig);
    aws.secrets.set('kube', { SecretString: kubeconfig });
    aws.tags.set('kube', { 'spinnaker:user-secret-type': 'string' });
    const references: { [engine: string]: string } = {
      s3: 'encryptedFile:s3!r:eu-west-1!b:spin!f:kube',
      ssm: 'encryptedFile:ssm!n:kube',
      'secrets-manager': 'encryptedFile:secrets-manager!r:eu-west-1!s:kube',
      secret: 'secret://secrets-manager?r=eu-west-1&s=kube',
    };
    const client = await openClient({ kubeconfigFile: references[engine] ?? '' });

    await client.getText('/livez');

    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer of-a-kubeconfig');
  },
);

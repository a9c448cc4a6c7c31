import { describe, expect, test } from 'vitest';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import { DeployedAccounts } from './deployed-accounts.ts';

const roleArn = 'arn:aws:iam::111122223333:role/deployer';

const world = new DeployedAccounts();

describe('an account whose server is named by its address', () => {
  const token = 'encrypted:ssm!r:eu-west-1!n:/shop/token';
  const caData = 'encryptedFile:s3!r:eu-west-1!b:spin!f:shop/ca.pem';

  /** Places authorities and a token in S3 and Parameter Store. */
  const place = (value: string): void => {
    world.aws.objects.set('spin/shop/ca.pem', world.server.authority.certificate);
    world.aws.parameters.set('/shop/token', value);
  };

  test('takes its authorities and its token from secrets, when it is first used', async () => {
    place('first\n');
    const client = await world.openClient({ server: { host: world.server.url, caData, bearerToken: token } });
    expect(world.aws.calls).toEqual([]);

    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));

    expect(new Set(world.server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer first']),
    );
    expect(world.aws.calls.map(({ action }) => action).sort()).toEqual(['GetObject', 'GetParameter']);
  });

  test('reads them again when the token is refused, in the middle of an operation', async () => {
    place('first');
    world.server.script((response, { headers }) => {
      const isGood = headers.authorization === `Bearer ${valid}`;
      response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
    });
    let valid = 'first';
    const client = await world.openClient({ server: { host: world.server.url, caData, bearerToken: token } });
    await client.getText('/livez');

    world.clock.advance(20_000);
    valid = 'second';
    place(valid);
    await client.getText('/livez');

    expect(world.server.seen.at(-1)?.headers.authorization).toBe('Bearer second');
    expect(world.aws.countCalls('GetParameter')).toBe(2);
    expect(world.logged).not.toMatch(/first|second/);
  });

  test('reads them again after five minutes, in the background', async () => {
    place('first');
    const client = await world.openClient({ server: { host: world.server.url, caData, bearerToken: token } });
    await client.getText('/livez');
    place('second');
    world.clock.advance(301_000);

    await expect
      .poll(async () => {
        world.clock.advance(4_000);
        await client.getText('/livez');
        return world.server.seen.at(-1)?.headers.authorization;
      })
      .toBe('Bearer second');
  });

  test('asks its broker with a key that is a secret, and with the next one once that is refused', async () => {
    await using broker = await startTokenBroker(() => 'of-the-broker');
    world.aws.secrets.set('arcade', { SecretString: '{"key":"old-key"}' });
    world.aws.tags.set('arcade', { 'spinnaker:user-secret-type': 'opaque' });
    world.aws.objects.set('spin/shop/ca.pem', world.server.authority.certificate);
    broker.apiKey = 'old-key';
    const arcade = { url: broker.url, apiKey: 'secret://secrets-manager?r=eu-west-1&s=arcade&k=key' };
    const accounts = ['a', 'b'].map((name) => ({ name, server: { host: world.server.url, caData } }));
    const settings = { kubernetes: { accounts }, busdriver: { tokenBrokers: { arcade } } };
    const clients = await world.openClients(settings, { placement: 'local' });

    await Promise.all(clients.map((client) => client.getText('/livez')));
    expect(world.aws.countCalls('GetSecretValue')).toBe(1);
    expect(broker.calls).toHaveLength(1);
    world.clock.advance(120_000);
    broker.apiKey = 'new-key';
    world.aws.secrets.set('arcade', { SecretString: '{"key":"new-key"}' });
    await Promise.all(clients.map((client) => client.getText('/livez')));

    expect(new Set(world.server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer of-the-broker']),
    );
    expect(world.aws.countCalls('GetSecretValue')).toBe(2);
    expect(world.logged).not.toMatch(/(old|new)-key|of-the-broker/);
  });
});

test('a role is assumed with an external id that is a secret', async () => {
  world.placeCluster();
  world.aws.roles.set(roleArn, 3600);
  world.aws.secrets.set('external', { SecretString: 'of-a-secret' });
  const externalId = 'encrypted:secrets-manager!r:eu-west-1!s:external';
  const client = await world.openClient({ eks: { cluster: 'shop', roleArn, externalId } });

  await client.getText('/livez');

  const assumed = world.aws.calls.filter(({ action }) => action === 'AssumeRole');
  expect(new Set(assumed.map(({ parameters }) => parameters['ExternalId']))).toEqual(
    new Set(['of-a-secret']),
  );
});

test.each(['s3', 'ssm', 'secrets-manager', 'secret'])(
  'a kubeconfig comes from the secret engine %s, in memory alone',
  async (engine) => {
    const kubeconfig = world.server.getKubeconfig({ user: { token: 'of-a-kubeconfig' } });
    world.aws.objects.set('spin/kube', kubeconfig);
    world.aws.parameters.set('kube', kubeconfig);
    world.aws.secrets.set('kube', { SecretString: kubeconfig });
    world.aws.tags.set('kube', { 'spinnaker:user-secret-type': 'string' });
    const references: { [engine: string]: string } = {
      s3: 'encryptedFile:s3!r:eu-west-1!b:spin!f:kube',
      ssm: 'encryptedFile:ssm!n:kube',
      'secrets-manager': 'encryptedFile:secrets-manager!r:eu-west-1!s:kube',
      secret: 'secret://secrets-manager?r=eu-west-1&s=kube',
    };
    const client = await world.openClient({ kubeconfigFile: references[engine] ?? '' });

    await client.getText('/livez');

    expect(world.server.seen.at(-1)?.headers.authorization).toBe('Bearer of-a-kubeconfig');
  },
);

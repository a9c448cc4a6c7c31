import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';

const kube = 'secrets-manager!r:eu-west-1!s:kube';

function parse(account: JsonObject) {
  return parseKubernetesAccounts({ kubernetes: { accounts: [{ name: 'a', ...account }] } });
}

describe('an account gets its kubeconfig from', () => {
  test.each([
    [{ 'kubeconfig-secret': 'kube' }, { id: 'kube' }],
    [{ kubeconfigFile: `encryptedFile:${kube}` }, { id: 'kube', region: 'eu-west-1' }],
    [{ kubeconfigContents: `encrypted:${kube}!k:prod` }, { id: 'kube', region: 'eu-west-1', key: 'prod' }],
    [
      { kubeconfigFile: 'encryptedFile:s3!r:eu-west-1!b:spin!f:kube' },
      { engine: 's3', id: 'spin/kube', region: 'eu-west-1' },
    ],
    [{ kubeconfigSecret: 'encrypted:ssm!n:/kube' }, { engine: 'ssm', id: '/kube' }],
  ])('a secret: %j', (account, kubeconfigSecret) => {
    expect(parse(account).accounts[0]?.connection).toMatchObject({
      kubeconfigSecret,
      kubeconfigFile: undefined,
      kubeconfigContents: undefined,
    });
  });

  test.each([{ kubeconfigSecret: 'kube' }, { kubeconfigFile: '/k' }, { kubeconfigContents: 'x' }, {}])(
    'with another cluster and another user than its context names: %j',
    (account) => {
      const named = { context: 'one', Cluster: 'c', user: 'u' };
      expect(parse({ ...account, ...named }).accounts[0]?.connection).toMatchObject({
        context: 'one',
        cluster: 'c',
        user: 'u',
      });
    },
  );

  test('a file, which wins over a secret in the place of contents', () => {
    const account = { kubeconfigFile: '/k', kubeconfigContents: `encrypted:${kube}` };
    const [first] = parse(account).accounts;
    expect(first?.connection).toMatchObject({ kubeconfigFile: '/k', kubeconfigSecret: undefined });
  });

  test('an EKS cluster, its settings in any spelling', () => {
    const roleArn = 'arn:aws-us-gov:iam::111122223333:role/path/deployer';
    const options = { 'role-arn': roleArn, session_name: 'ci', externalID: 'x:1' };
    const [account] = parse({ eks: { cluster: 'prod', region: 'us-gov-west-1', ...options } }).accounts;
    expect(account?.connection.eks).toEqual({
      name: 'prod',
      region: 'us-gov-west-1',
      roleArn,
      sessionName: 'ci',
      externalId: 'x:1',
    });
  });
});

test('an account gets its server from its address, and by default its tokens from Arcade', () => {
  const server = { host: ' https://api.test/prefix ', 'ca-data': 'dGVz\ndA==', tokenProvider: '' };
  const { accounts, rejected } = parse({ server });
  expect(rejected).toEqual([]);
  expect(accounts[0]?.connection.server).toEqual({
    host: 'https://api.test/prefix',
    caData: 'dGVz\ndA==',
    tokenProvider: 'google',
    tokenBroker: 'arcade',
    bearerToken: undefined,
  });
});

describe('an account is rejected', () => {
  test.each<[JsonObject, string]>([
    [{ context: 'encrypted:secrets-manager!r:a!s:b' }, 'context: this setting shows in answers or messages'],
    [
      { kubeconfigFile: 'encryptedFile:secrets-manager!s:kube' },
      'kubeconfigFile: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>',
    ],
    [{ kubeconfigSecret: 'a b' }, 'kubeconfigSecret: expected the name or ARN of a secret'],
    [
      { kubeconfigSecret: 'encrypted:s3!b:x' },
      'kubeconfigSecret: expected encrypted:s3!r:<region>!b:<bucket>',
    ],
    [
      { server: { host: 'secret://secrets-manager?r=a&s=b' } },
      'server.host: this setting shows in answers or messages: expected the value itself',
    ],
    [
      { server: { host: 'https://a', caData: 'encrypted:vault!e:a!n:b!k:c' } },
      'server.caData: the secret engine vault is not supported: expected one of secrets-manager, s3, ssm, noop',
    ],
    [
      { eks: { cluster: 'a', roleArn: 'arn:aws:iam::111122223333:role/a', externalId: 'encrypted:gcs!b:a' } },
      'eks.externalId: the secret engine gcs is not supported',
    ],
    [
      { kubeconfigSecret: 'kube', kubeconfigFile: '/k' },
      'kubeconfigFile: expected nothing beside kubeconfigSecret',
    ],
    [
      { serviceAccount: true, user: 'u', cluster: 'c' },
      'cluster: expected nothing beside serviceAccount, whose pod has its own; kubernetes.accounts[0].user: expected',
    ],
    [{ eks: { cluster: 'a' }, user: 'u' }, 'user: expected nothing where eks names a cluster'],
    [{ server: {} }, 'server.host: expected a value, got none'],
    [{ server: { host: 'api.test' } }, 'server.host: expected an http or https URL'],
    [{ server: { host: 'https://u:p@api.test' } }, 'server.host: expected an http or https URL without user'],
    [{ server: { host: 'https://a', caData: 'dGVzd' } }, 'server.caData: expected PEM in base64'],
    [{ server: { host: 'https://a', caData: 'te-t' } }, 'server.caData: expected PEM in base64'],
    [
      { server: { host: 'https://a', bearerToken: 'x', tokenProvider: 'google' } },
      'server.bearerToken: expected nothing beside tokenProvider',
    ],
    [{ server: { host: 'https://a' }, eks: { cluster: 'a' } }, 'eks: expected nothing beside server'],
    [
      { server: { host: 'https://a' }, kubeconfigFile: '/k' },
      'kubeconfigFile: expected nothing where server names a cluster',
    ],
    [{ eks: {} }, 'eks.cluster: expected a value, got none'],
    [{ eks: 'prod' }, 'eks: expected an object, got a string (not shown)'],
    [{ eks: { cluster: '' } }, 'eks.cluster: expected a name, got an empty string'],
    [{ eks: { cluster: 'a b' } }, "eks.cluster: expected an EKS cluster's name"],
    [{ eks: { cluster: 'a', region: 'Ireland' } }, 'eks.region: expected a region such as'],
    [{ eks: { cluster: 'a', roleArn: 'deployer' } }, 'eks.roleArn: expected arn:aws:iam::'],
    [{ eks: { cluster: 'a', externalId: 'x1' } }, 'eks.externalId: expected only beside roleArn'],
    [
      { eks: { cluster: 'a' }, serviceAccount: true, context: 'x' },
      'context: expected nothing where eks names a cluster; kubernetes.accounts[0].serviceAccount: expected nothing',
    ],
  ])('%j', (account, reason) => {
    const { accounts, rejected } = parse(account);
    expect(accounts).toEqual([]);
    expect(rejected[0]?.reason).toContain(`kubernetes.accounts[0].${reason}`);
  });

  test('with a reason that holds no value of the setting', () => {
    for (const field of ['cluster', 'region', 'roleArn', 'sessionName', 'externalId']) {
      const { rejected } = parse({ eks: { cluster: 'a', [field]: 'planted secret' } });
      expect(rejected).toHaveLength(1);
      expect(JSON.stringify(rejected)).not.toContain('planted');
    }
  });
});

test.each<[JsonObject, JsonObject, string]>([
  [{ tokenBroker: 'other' }, {}, 'busdriver.tokenBrokers.other: expected the settings of a broker'],
  [{ tokenBroker: 'other' }, { other: {} }, 'busdriver.tokenBrokers.other.url: expected an http or https'],
  [{}, { arcade: { url: 'arcade:1982' } }, 'busdriver.tokenBrokers.arcade.url: expected an http or https'],
  [{}, { arcade: { url: 'http://planted@b' } }, 'busdriver.tokenBrokers.arcade.url: expected an http'],
  [{}, { arcade: { timeoutMs: 0 } }, 'busdriver.tokenBrokers.arcade.timeoutMs: expected a whole number'],
  [{}, { arcade: { maxAgeSeconds: 'x' } }, 'busdriver.tokenBrokers.arcade.maxAgeSeconds: expected'],
  [{}, { arcade: 'planted' }, 'busdriver.tokenBrokers.arcade: expected an object'],
  [
    {},
    { arcade: { apiKey: `$${'{PLANTED}'}` } },
    'busdriver.tokenBrokers.arcade.apiKey: expected a value, got a placeholder',
  ],
])('an account is rejected for its token broker %j, %j', (server, tokenBrokers, reason) => {
  const kubernetes = {
    accounts: [
      { name: 'a', server: { host: 'https://a', ...server } },
      { name: 'b', server: { host: 'https://a', bearerToken: 'own' } },
    ],
  };
  const { accounts, rejected } = parseKubernetesAccounts({ kubernetes, busdriver: { tokenBrokers } });
  expect(accounts.map(({ name }) => name)).toEqual(['b']);
  expect(rejected).toEqual([{ name: 'a', reason: expect.stringContaining(reason) }]);
  expect(JSON.stringify(rejected)).not.toContain('planted');
});

test('the accounts that docs/eks.md shows are accepted', () => {
  const text = readFileSync('docs/eks.md', 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n(kubernetes:.*?)^```$/gms)].map(([, block = '']) =>
    parseYaml(block),
  );
  const parsed = blocks.map((settings) => parseKubernetesAccounts(settings));
  expect(parsed.flatMap(({ rejected }) => rejected)).toEqual([]);
  const connections = parsed.flatMap(({ accounts }) => accounts.map(({ connection }) => connection));
  expect(connections.filter(({ eks }) => eks)).toHaveLength(2);
  expect(connections.filter(({ kubeconfigSecret }) => kubeconfigSecret)).toHaveLength(4);
});

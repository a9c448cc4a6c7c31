import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { readFixture } from '#test/support/run/fixture.ts';

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
  test.each<[JsonObject, string]>(readFixture<[JsonObject, string][]>('config/rejected-connections.yaml'))(
    '%j',
    (account, reason) => {
      const { accounts, rejected } = parse(account);
      expect(accounts).toEqual([]);
      expect(rejected[0]?.reason).toContain(`kubernetes.accounts[0].${reason}`);
    },
  );

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

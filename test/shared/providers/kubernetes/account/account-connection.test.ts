import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { parseKubernetesAccounts } from '../../../../../shared/providers/kubernetes/account/account.ts';

function parse(account: JsonObject) {
  return parseKubernetesAccounts({ kubernetes: { accounts: [{ name: 'a', ...account }] } });
}

describe('an account gets its kubeconfig from', () => {
  test.each([
    [{ 'kubeconfig-secret': 'kube' }, { id: 'kube' }],
    [
      { kubeconfigFile: 'encryptedFile:secrets-manager!r:eu-west-1!s:kube' },
      { id: 'kube', region: 'eu-west-1' },
    ],
    [
      { kubeconfigContents: 'encrypted:secrets-manager!r:eu-west-1!s:kube!k:prod' },
      { id: 'kube', region: 'eu-west-1', key: 'prod' },
    ],
  ])('a secret: %j', (account, kubeconfigSecret) => {
    expect(parse(account).accounts[0]?.connection).toMatchObject({
      kubeconfigSecret,
      kubeconfigFile: undefined,
      kubeconfigContents: undefined,
    });
  });

  test('a file, which wins over a secret in the place of contents', () => {
    const account = {
      kubeconfigFile: '/k',
      kubeconfigContents: 'encrypted:secrets-manager!r:eu-west-1!s:kube',
    };
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

describe('an account is rejected', () => {
  test.each<[JsonObject, string]>([
    [{ context: 'encrypted:secrets-manager!r:a!s:b' }, 'context: references to secret stores'],
    [
      { kubeconfigFile: 'encryptedFile:secrets-manager!s:kube' },
      'kubeconfigFile: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>',
    ],
    [{ kubeconfigSecret: 'a b' }, 'kubeconfigSecret: expected the name or ARN of a secret'],
    [{ kubeconfigSecret: 'encrypted:s3!b:x' }, 'kubeconfigSecret: references to secret stores'],
    [
      { kubeconfigSecret: 'kube', kubeconfigFile: '/k' },
      'kubeconfigFile: expected nothing beside kubeconfigSecret',
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

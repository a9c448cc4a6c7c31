import { expect, test } from 'vitest';
import { describeUnknownKeys, unknownKeysToldMax } from '#accounts/account-options.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { accountOptions as options } from '#providers/kubernetes/account/account-fields.ts';
import { keyLengthMax } from '#settings/nearest-key.ts';
import { openProvider } from '../provider-setup.ts';

test('a misspelt key is told with its path and the option that it comes nearest to', () => {
  const entry = { name: 'a', namspaces: ['shop'], 'cache-thread': 2, team: 'shop' };
  expect(describeUnknownKeys(entry, { at: 'kubernetes.accounts[1]', options })).toEqual([
    "kubernetes.accounts[1].namspaces: unknown, and of no effect: did you mean 'namespaces'?",
    "kubernetes.accounts[1].cache-thread: unknown, and of no effect: did you mean 'cacheThreads'?",
    'kubernetes.accounts[1].team: unknown, and of no effect',
  ]);
});

test('one within an option, too', () => {
  const entry = {
    name: 'a',
    'custom-resources': [
      { kubernetesKind: 'A.example.com' },
      { kubernetesKind: 'B.example.com', namespaceed: false },
    ],
    cachingPolicies: [{ kubernetesKind: 'pod', maxEntriesPerAgent: 1, max: 2 }],
    eks: { cluster: 'c', rolArn: 'x' },
    rawResourcesEndpointConfig: { kindExpresions: [] },
  };
  expect(describeUnknownKeys(entry, { at: 'at', options })).toEqual([
    "at.eks.rolArn: unknown, and of no effect: did you mean 'roleArn'?",
    "at.custom-resources[1].namespaceed: unknown, and of no effect: did you mean 'namespaced'?",
    'at.cachingPolicies[0].max: unknown, and of no effect',
    "at.rawResourcesEndpointConfig.kindExpresions: unknown, and of no effect: did you mean 'kindExpressions'?",
  ]);
});

test('nothing is told of what Clouddriver knows, in any spelling of Spring', () => {
  const entry = {
    type: 'kubernetes',
    providerVersion: 'V2',
    liveManifestCalls: true,
    dockerRegistries: [{ accountName: 'hub', namespaces: [] }],
    configureImagePullSecrets: true,
    skin: 'v2',
    user: 'u',
    cluster: 'c',
    oAuthScopes: [],
    'kubectl-executable': 'kubectl-1.31',
    NAME: 'a',
    'kubeconfig-file': 'x',
    omit_namespaces: [],
    oauthScopes: [],
    permissions: {},
    'required-group-membership': [],
    customResources: [{ 'kubernetes-kind': 'A.example.com', spinnakerKind: 'unclassified' }],
    eks: null,
  };
  expect(describeUnknownKeys(entry, { at: 'at', options })).toEqual([]);
});

test('nor of what an account is left out for', () => {
  const { rejected, warnings } = parseKubernetesAccounts({
    kubernetes: { accounts: [{ name: 'a', permisions: { READ: ['x'] } }] },
  });
  expect(rejected).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test('what is no account, or has no name, is told of as far as it goes', () => {
  for (const entry of [null, 'a', 3, ['name']])
    expect(describeUnknownKeys(entry, { at: 'at', options })).toEqual([]);
  const { warnings } = parseKubernetesAccounts({ kubernetes: { accounts: [{ names: 'a' }] } });
  expect(warnings).toEqual([
    {
      message: 'account with an unknown key',
      account: 'kubernetes.accounts[0]',
      reason: "kubernetes.accounts[0].names: unknown, and of no effect: did you mean 'name'?",
    },
  ]);
});

test('of many not all are told, and of long ones the beginning', () => {
  const many = Object.fromEntries(
    Array.from({ length: unknownKeysToldMax + 5 }, (_, index) => [`x-${index}`, 1]),
  );
  const told = describeUnknownKeys(many, { at: 'at', options });
  expect(told).toHaveLength(unknownKeysToldMax + 1);
  expect(told.at(-1)).toBe('at: 5 more keys are unknown');
  const [long = ''] = describeUnknownKeys({ ['y'.repeat(100_000)]: 1 }, { at: 'at', options });
  expect(long.length).toBeLessThan(keyLengthMax + 50);
});

test('the provider tells it when its accounts are opened', async () => {
  await using provider = openProvider([{ name: 'a', namspaces: ['shop'] }]);
  const reason = "kubernetes.accounts[0].namspaces: unknown, and of no effect: did you mean 'namespaces'?";
  expect(provider.accountWarnings).toEqual([
    { message: 'account with an unknown key', account: 'a', reason },
  ]);
});

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { checkNamespace, isWithinBounds } from '#providers/kubernetes/account/account-bounds.ts';
import { openProvider } from '../provider-setup.ts';

function parse(...accounts: JsonObject[]) {
  return parseKubernetesAccounts({ kubernetes: { accounts } });
}

function parseOne(account: JsonObject) {
  const { accounts } = parse({ name: 'a', ...account });
  const [first] = accounts;
  if (!first) throw new Error('no account');
  return first;
}

describe('bounds', () => {
  test('kinds that live in no namespace may be used unless an account says otherwise', () => {
    expect(parseOne({}).clusterScopedKinds).toBe(true);
    expect(parseOne({ namespaces: ['shop'] }).clusterScopedKinds).toBe(true);
    expect(parseOne({ clusterScopedKinds: false }).clusterScopedKinds).toBe(false);
    expect(parseOne({ namespaces: ['shop'], 'cluster-scoped-kinds': 'false' }).clusterScopedKinds).toBe(
      false,
    );
  });

  test('whoever names namespaces and does not say so is warned, by the name of the account', () => {
    const { warnings } = parse(
      { name: 'all' },
      { name: 'omitting', omitNamespaces: ['kube-system'] },
      { name: 'vague', namespaces: ['shop'] },
      { name: 'open', namespaces: ['shop'], clusterScopedKinds: true },
      { name: 'closed', namespaces: ['shop'], clusterScopedKinds: false },
    );
    expect(warnings).toEqual([
      {
        message: 'account open to cluster-scoped kinds',
        account: 'vague',
        reason:
          'kubernetes.accounts[2].clusterScopedKinds: the account names its namespaces, and yet may use kinds that live in none, ' +
          'such as clusterRole: set it to false to refuse them, or to true to allow them and be told no more',
      },
    ]);
  });

  test('the provider tells the warning when its accounts are opened', async () => {
    await using provider = openProvider([{ name: 'vague', namespaces: ['shop'] }]);
    expect(provider.accountWarnings).toMatchObject([
      { message: 'account open to cluster-scoped kinds', account: 'vague' },
    ]);
  });

  test.each([
    [{ namespaces: ['shop', 'a/b'] }, "namespaces[1]: expected a name without '/' and '%'"],
    [{ omitNamespaces: ['..'] }, "omitNamespaces[0]: expected a name other than '.' and '..'"],
  ])('%j: no namespaces', (account, reason) => {
    expect(parse({ name: 'a', ...account }).rejected).toEqual([
      { name: 'a', reason: `kubernetes.accounts[0].${reason}` },
    ]);
  });

  test.each([
    [{}, { vault: true, role: true, namespace: true }],
    [{ namespaces: ['shop'] }, { vault: false, role: true, namespace: false }],
    [{ omitNamespaces: ['vault'] }, { vault: false, role: true, namespace: false }],
    [{ clusterScopedKinds: false }, { vault: true, role: false, namespace: false }],
  ])(
    '%j: of what is in vault, of a role and of the Namespace vault is seen: %j',
    (settings, { vault, role, namespace }) => {
      const account = parseOne(settings);
      const isSeen = (kind: string, name: string, at = '') =>
        isWithinBounds(account, { kind, name, namespace: at });
      expect(isSeen('configMap', 'a', 'vault')).toBe(vault);
      expect(isSeen('clusterRole', 'vault')).toBe(role);
      expect(isSeen('namespace', 'vault')).toBe(namespace);
      expect(isSeen('configMap', 'a', 'shop')).toBe(true);
      expect(isSeen('namespace', 'shop')).toBe(role);
    },
  );
});

describe('checkNamespace', () => {
  const all = { namespaces: [], omitNamespaces: [] };
  test.each([
    [all, 'shop', []],
    [{ ...all, namespaces: ['shop'] }, 'shop', []],
    [{ ...all, namespaces: ['shop'] }, 'other', ['wrongNamespace']],
    [{ ...all, omitNamespaces: ['kube-system'] }, 'kube-system', ['omittedNamespace']],
    [{ ...all, omitNamespaces: ['kube-system'] }, 'shop', []],
    [{ ...all, namespaces: ['shop'] }, '', []],
    [{ ...all, namespaces: ['shop'] }, undefined, []],
  ])('%j, %j: %j', (account, namespace, codes) => {
    expect(checkNamespace(account, namespace)).toEqual(codes);
  });
});

import { describe, expect, test } from 'vitest';
import { parseCredentialsSettings, toCredentialsView } from '#accounts/credentials-view.ts';
import type { Account } from '#accounts/model/account.ts';

const secret = 'planted-token-8c1f';

/** An account with more on it than may be shown. */
function createAccount(changes: Partial<Account> = {}): Account {
  const account = {
    name: 'prod-eu',
    cloudProvider: 'kubernetes',
    environment: 'prod',
    accountType: 'prod-eu',
    requiredGroupMembership: [],
    details: { namespaces: ['shop'], cacheThreads: 1, enabled: true, region: null },
    connection: { kubeconfigContents: secret },
    ...changes,
  };
  return account;
}

const settings = parseCredentialsSettings({});

describe('toCredentialsView', () => {
  test('unexpanded, an open account has exactly these fields', () => {
    expect(toCredentialsView(createAccount(), { ...settings, expand: false })).toEqual({
      name: 'prod-eu',
      environment: 'prod',
      accountType: 'prod-eu',
      cloudProvider: 'kubernetes',
      type: 'kubernetes',
      requiredGroupMembership: [],
      challengeDestructiveActions: false,
      primaryAccount: false,
    });
  });

  test('expanded, it has its details too, without nulls', () => {
    const view = toCredentialsView(createAccount(), { ...settings, expand: true });
    expect(view).toMatchObject({ namespaces: ['shop'], cacheThreads: 1, enabled: true, name: 'prod-eu' });
    expect(view).not.toHaveProperty('region');
    expect(view).not.toHaveProperty('permissions');
    expect(view).not.toHaveProperty('connection');
  });

  test('permissions and account id are shown where there are any', () => {
    const account = createAccount({ permissions: { READ: ['devs'] }, details: { accountId: '123' } });
    for (const expand of [true, false]) {
      const shown = { permissions: { READ: ['devs'] }, accountId: '123' };
      expect(toCredentialsView(account, { ...settings, expand })).toMatchObject(shown);
    }
  });

  test('details cannot pass themselves off as the account', () => {
    const account = createAccount({ details: { name: 'other', type: 'aws', permissions: {} } });
    const view = toCredentialsView(account, { ...settings, expand: true });
    expect(view).toMatchObject({ name: 'prod-eu', type: 'kubernetes' });
    expect(view).not.toHaveProperty('permissions');
  });

  test('a secret of the account is never shown', () => {
    for (const expand of [true, false]) {
      const view = toCredentialsView(createAccount(), { ...settings, expand });
      expect(JSON.stringify(view)).not.toContain(secret);
    }
  });

  test('the two flags follow the configuration', () => {
    const challengeDestructiveActionsEnvironments = 'prod, stage';
    const configured = parseCredentialsSettings({
      credentials: { 'primary-account-types': ['prod-eu'], challengeDestructiveActionsEnvironments },
    });
    const flags = { challengeDestructiveActions: true, primaryAccount: true };
    expect(toCredentialsView(createAccount(), { ...configured, expand: false })).toMatchObject(flags);
    const standard = createAccount({ environment: 'default', accountType: 'default' });
    expect(toCredentialsView(standard, { ...settings, expand: false })).toMatchObject(flags);
    const none = { challengeDestructiveActions: false, primaryAccount: false };
    expect(toCredentialsView(standard, { ...configured, expand: false })).toMatchObject(none);
  });
});

test('an empty list of primary types makes no account primary', () => {
  const { primaryAccountTypes } = parseCredentialsSettings({ credentials: { primaryAccountTypes: [] } });
  expect(primaryAccountTypes).toEqual([]);
});

import { expect, test } from 'vitest';
import type { Account } from '#accounts/model/account.ts';
import { idlePermissionsToldMax, listIdlePermissions } from '#settings/live/idle-permissions.ts';

function makeAccount(name: string, groups?: readonly string[]): Account {
  return {
    ...{ name, cloudProvider: 'kubernetes', environment: name, accountType: name, details: {} },
    ...(groups && { permissions: { READ: groups, WRITE: groups } }),
    requiredGroupMembership: [],
  };
}

function toProvider(accounts: readonly Account[]) {
  return { clouds: [{ name: 'kubernetes', accounts }] };
}

test('accounts that name groups are told where Fiat is off, and what the groups mean then', () => {
  const told = listIdlePermissions([toProvider([makeAccount('open'), makeAccount('grouped', ['team'])])]);
  expect(told).toEqual([
    {
      message: 'permissions without Fiat',
      reason:
        'account "grouped": permissions have no effect without Fiat, but that callers need the account in ' +
        'X-SPINNAKER-ACCOUNTS, where Gate lists it for its WRITE groups',
    },
  ]);
});

test('nothing is told where Fiat is on', () => {
  const authorizer = { getPermission: async () => Promise.reject(new Error('not asked')) };
  const accounts = [makeAccount('grouped', ['team'])];
  expect(listIdlePermissions([toProvider(accounts), { authorizer }])).toEqual([]);
});

test('of many accounts the first are told one by one, by the beginning of a long name', () => {
  const accounts = Array.from({ length: 500 }, (_, index) =>
    makeAccount(`${'n'.repeat(10_000)}${index}`, ['team']),
  );
  const told = listIdlePermissions([toProvider(accounts)]);
  expect(told).toHaveLength(idlePermissionsToldMax + 1);
  expect(told.at(-1)?.reason).toMatch(/^further accounts: permissions have no effect/);
  expect(JSON.stringify(told).length).toBeLessThan(15_000);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createRights,
  findDeniedAccount,
  parseApplicationCheck,
  parseReadsChecked,
} from '#access/authorization.ts';
import type { UserPermission } from '#access/authorizer.ts';
import type { Authorization, Permissions } from '#accounts/model/account.ts';
import { parseAccess } from '#accounts/permissions.ts';
import type { JsonObject } from '#core/json.ts';

const names = ['a', 'b', 'c'] as const;
const authorizations: readonly Authorization[] = ['READ', 'WRITE', 'EXECUTE', 'CREATE'];
const groups = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'));
const name = fc.constantFrom(...names);
const authorization = fc.constantFrom(...authorizations);
const granted = fc.dictionary(name, fc.uniqueArray(authorization));

/** Rights as they follow from what Gate lists. */
function listed(
  restricted: readonly string[],
  allowed: readonly string[] | undefined,
  areReadsChecked = true,
) {
  return createRights({
    findAccount: (account) => {
      if (!names.includes(account as (typeof names)[number])) return undefined;
      return restricted.includes(account) ? { permissions: { WRITE: ['x'] } } : {};
    },
    permission: undefined,
    allowedAccounts: allowed,
    areReadsChecked,
  });
}

function ofFiat(
  accounts: { readonly [name: string]: readonly Authorization[] },
  more: Partial<UserPermission> = {},
) {
  const permission: UserPermission = {
    user: 'u',
    isAdmin: false,
    isAccountManager: false,
    roles: new Set(),
    accounts: new Map(Object.entries(accounts).map(([key, value]) => [key, new Set(value)])),
    applications: new Map(),
    allowAccessToUnknownApplications: false,
    ...more,
  };
  const findAccount = (): { permissions?: Permissions } => ({});
  // What Gate lists does not count where Fiat is asked.
  return createRights({ findAccount, permission, allowedAccounts: [...names], areReadsChecked: true });
}

describe('without Fiat', () => {
  it('open accounts are everybody’s, restricted ones theirs for whom they are listed, in any case', () => {
    const rights = listed(['b'], ['B']);
    expect(rights.mayUseAccount('a', 'WRITE')).toBe(true);
    expect(rights.mayUseAccount('b', 'WRITE')).toBe(true);
    expect(rights.mayUseAccount('B', 'WRITE')).toBe(true);
    expect(listed(['b'], ['a']).mayUseAccount('b', 'READ')).toBe(false);
    expect(listed(['b'], undefined).mayUseAccount('b', 'READ')).toBe(false);
    expect(rights.isManager).toBe(false);
  });

  it('one more account that is listed gives the rights to it, and to no other', () => {
    const cases = fc.record({ some: fc.uniqueArray(name), restricted: fc.uniqueArray(name), more: name });
    fc.assert(
      fc.property(cases, authorization, ({ some, restricted, more }, what) => {
        const fewer = listed(restricted, some);
        const all = listed(restricted, [...some, more]);
        for (const account of names) {
          const expected = account === more || fewer.mayUseAccount(account, what);
          expect(all.mayUseAccount(account, what)).toBe(expected);
        }
      }),
    );
  });

  it('reads: off opens READ of any account, and no other right', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), authorization, (restricted, what) => {
        const off = listed(restricted, [], false);
        const on = listed(restricted, []);
        for (const account of names) {
          const expected = what === 'READ' || on.mayUseAccount(account, what);
          expect(off.mayUseAccount(account, what)).toBe(expected);
        }
      }),
    );
  });
});

describe('groups of an account', () => {
  it('more of them never give anybody a right who had it not, when they are in the other list', () => {
    fc.assert(
      fc.property(groups, groups, fc.constantFrom('x', 'y', 'z'), (write, legacy, group) => {
        const access = parseAccess({ permissions: { WRITE: write }, requiredGroupMembership: legacy });
        const may = isGranted(access.permissions, group);
        if (write.length > 0 && !write.includes(group)) expect(may).toBe(false);
        if (legacy.length > 0 && !legacy.includes(group)) expect(may).toBe(false);
      }),
    );
  });

  it('a second list never opens what the first one closes', () => {
    fc.assert(
      fc.property(groups, groups, fc.constantFrom('x', 'y', 'z', 'none'), (write, legacy, group) => {
        const permissions = { WRITE: write };
        const both = parseAccess({ permissions, requiredGroupMembership: legacy }).permissions;
        const alone = [parseAccess({ permissions }), parseAccess({ requiredGroupMembership: legacy })];
        if (!isGranted(both, group)) return;
        for (const one of alone) expect(isGranted(one.permissions, group)).toBe(true);
      }),
    );
  });
});

describe('with Fiat', () => {
  it('a right is what Fiat says, whatever Gate lists', () => {
    fc.assert(
      fc.property(granted, name, authorization, (accounts, account, what) => {
        const expected = accounts[account]?.includes(what) ?? false;
        expect(ofFiat(accounts).mayUseAccount(account.toUpperCase(), what)).toBe(expected);
      }),
    );
  });

  it('an administrator may do everything, a manager of accounts manage them', () => {
    expect(ofFiat({}, { isAdmin: true }).mayUseAccount('unknown', 'WRITE')).toBe(true);
    expect(ofFiat({}, { isAdmin: true }).isManager).toBe(true);
    expect(ofFiat({}, { isAccountManager: true }).isManager).toBe(true);
    expect(ofFiat({}, { isAccountManager: true }).mayUseAccount('a', 'READ')).toBe(false);
  });

  it('applications that Fiat does not know are open where it says so', () => {
    const applications = new Map([['known', new Set<Authorization>(['READ'])]]);
    const closed = ofFiat({}, { applications });
    const open = ofFiat({}, { applications, allowAccessToUnknownApplications: true });
    expect(closed.mayUseApplication('other', 'READ')).toBe(false);
    expect(open.mayUseApplication('other', 'EXECUTE')).toBe(true);
    expect(open.mayUseApplication('KNOWN', 'EXECUTE')).toBe(false);
    expect(open.mayUseApplication('KNOWN', 'READ')).toBe(true);
  });
});

describe('a task', () => {
  const find = (accounts: string[], isRestricted: boolean, known: readonly string[]) =>
    findDeniedAccount({ accounts, isRestricted }, listed(['b'], []), {
      authorization: 'READ',
      isKnown: (account) => known.includes(account),
    });

  it('needs the right to each of its accounts', () => {
    expect(find(['a'], false, names)).toBeUndefined();
    expect(find(['a', 'b'], true, names)).toBe('b');
  });

  it('of an account that is gone is as open as it was', () => {
    expect(find(['gone'], false, names)).toBeUndefined();
    expect(find(['gone'], true, names)).toBe('gone');
  });
});

describe('busdriver.authorization.reads', () => {
  const parse = (authorization: unknown) =>
    parseReadsChecked({ busdriver: { authorization } } as unknown as JsonObject);

  it.each([
    [{}, true],
    [undefined, true],
    [{ reads: 'on' }, true],
    [{ reads: true }, true],
    [{ reads: 'OFF' }, false],
    [{ reads: false }, false],
  ])('%j', (authorization, expected) => {
    expect(parse(authorization)).toBe(expected);
  });

  it.each([[{ reads: 'of' }], [{ reads: 'no' }], [{ reads: 0 }], [{ reads: ['off'] }], ['off'], [false]])(
    '%j is refused',
    (authorization) => {
      expect(() => parse(authorization)).toThrow(/^busdriver\.authorization(\.reads)?: expected /);
    },
  );
});

describe('busdriver.checkApplication', () => {
  it.each([
    [undefined, 'report'],
    [null, 'report'],
    ['off', 'off'],
    [false, 'off'],
    ['Report', 'report'],
    ['enforce', 'enforce'],
  ])('%j', (checkApplication, expected) => {
    expect(parseApplicationCheck({ busdriver: { checkApplication } } as JsonObject)).toBe(expected);
  });

  it.each([['on'], [true], ['enforced'], [''], [1], [['enforce']], [{ mode: 'off' }]])(
    '%j is refused',
    (checkApplication) => {
      expect(() => parseApplicationCheck({ busdriver: { checkApplication } })).toThrow(
        'busdriver.checkApplication: expected off, report or enforce',
      );
    },
  );
});

/** Whether Gate would list the account for a member of the group. */
function isGranted(permissions: Permissions | undefined, group: string): boolean {
  return permissions === undefined || permissions.WRITE?.includes(group) === true;
}

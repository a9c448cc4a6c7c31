import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../../shared/core/errors.ts';
import type { JsonObject } from '../../../../shared/core/json.ts';
import { authorizations, nobody, parseAccess } from '../../../../shared/core/settings/permissions.ts';

const open = { requiredGroupMembership: [] };

describe('open accounts', () => {
  test.each([
    [{}],
    [{ permissions: {} }],
    [{ permissions: null }],
    [{ permissions: '' }],
    [{ permissions: { READ: [], WRITE: [] } }],
    [{ permissions: { READ: null } }],
    [{ requiredGroupMembership: [] }],
  ])('%j', (account) => {
    expect(parseAccess(account)).toEqual(open);
  });
});

describe('legacy groups', () => {
  test('may read and write where no permission names a group', () => {
    expect(parseAccess({ permissions: {}, requiredGroupMembership: ['Ops', ' sre '] })).toEqual({
      permissions: { READ: ['ops', 'sre'], WRITE: ['ops', 'sre'] },
      requiredGroupMembership: ['Ops', 'sre'],
    });
  });
});

describe('restricted accounts', () => {
  test('keys in any case, groups trimmed and in lower case, blanks and doubles dropped', () => {
    expect(
      parseAccess({ permissions: { read: [' Devs ', '', 'devs'], Write: ['SRE'], CREATE: [] } }),
    ).toEqual({
      permissions: { READ: ['devs'], WRITE: ['sre'] },
      requiredGroupMembership: [],
    });
  });

  test('permissions and legacy groups both hold: neither opens what the other closes', () => {
    const both = (permissions: JsonObject): unknown =>
      parseAccess({ permissions, requiredGroupMembership: ['Ops', 'sre'] });

    expect(both({ READ: ['devs', 'ops'], WRITE: ['SRE'] })).toEqual({
      permissions: { READ: ['ops'], WRITE: ['sre'] },
      requiredGroupMembership: [],
    });
    // An empty list, or none at all, would be taken for an account that is open to all.
    expect(both({ READ: ['devs'] })).toEqual({
      permissions: { READ: [nobody] },
      requiredGroupMembership: [],
    });
  });

  test('keys are bound as Spring binds them', () => {
    expect(parseAccess({ PERMISSIONS: { READ: ['a'] } }).permissions).toEqual({ READ: ['a'] });
    expect(parseAccess({ 'required-group-membership': ['a'] }).requiredGroupMembership).toEqual(['a']);
  });

  test('one authorization in two spellings has the groups of both', () => {
    expect(parseAccess({ permissions: { READ: ['a'], read: ['b'] } }).permissions).toEqual({
      READ: ['a', 'b'],
    });
  });

  test('a comma-separated string is a list, numbers are names', () => {
    expect(parseAccess({ permissions: { READ: 'a, b', EXECUTE: [7] } }).permissions).toEqual({
      READ: ['a', 'b'],
      EXECUTE: ['7'],
    });
  });
});

describe('mistakes', () => {
  test.each([
    [{ permissions: { RAED: ['a'] } }, 'at.permissions.RAED: expected one of READ, WRITE, EXECUTE, CREATE'],
    [{ permissions: { READS: [] } }, 'at.permissions.READS: expected one of READ, WRITE, EXECUTE, CREATE'],
    [
      { permissions: { toString: ['a'] } },
      'at.permissions.toString: expected one of READ, WRITE, EXECUTE, CREATE',
    ],
    [
      { permissions: ['a'] },
      'at.permissions: expected a map from READ, WRITE, EXECUTE, CREATE to lists of groups',
    ],
    [
      { permissions: 'a' },
      'at.permissions: expected a map from READ, WRITE, EXECUTE, CREATE to lists of groups',
    ],
    [{ permissions: { READ: { a: 1 } } }, 'at.permissions.READ: expected a list of group names'],
    [{ permissions: { READ: [['a']] } }, 'at.permissions.READ: expected a list of group names'],
    [{ permissions: { READ: [' '] } }, 'at.permissions.READ: expected group names, got only blank ones'],
    [{ permissions: { READ: '' } }, 'at.permissions.READ: expected group names, got only blank ones'],
    [
      { requiredGroupMembership: [''] },
      'at.requiredGroupMembership: expected group names, got only blank ones',
    ],
  ])('%j is refused', (account, message) => {
    expect(() => parseAccess(account as JsonObject, 'at')).toThrow(new InvalidInputError([message]));
  });

  test.each(['permission', 'premissions', 'Permisions', 'permissons', 'requiredGroupMemberships'])(
    'the misspelt key %s is refused',
    (key) => {
      expect(() => parseAccess({ [key]: { READ: ['a'] } })).toThrow(/too much like one of permissions, /);
    },
  );

  test('other keys of an account are not taken for misspelt ones', () => {
    const keys = [
      'omitKinds',
      'providerVersion',
      'checkPermissionsOnStartup',
      'requiredKinds',
      'version',
      'name',
    ];
    expect(parseAccess(Object.fromEntries(keys.map((key) => [key, 'x'])))).toEqual(open);
  });

  test('every violation is named', () => {
    expect(() => parseAccess({ permissions: { A: ['a'], B: ['b'] } })).toThrow(
      /permissions\.A.*; permissions\.B/,
    );
  });

  test('whatever key restricts an account: it is restricted or refused, never open', () => {
    const group = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(...authorizations, 'read')), group, (key, name) => {
        try {
          const { permissions } = parseAccess({ permissions: { [key]: [name] } });
          expect(Object.values(permissions ?? {})).toEqual([[name]]);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError);
        }
      }),
    );
  });
});

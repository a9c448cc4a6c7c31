import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authorizations, nobody, parseAccess } from '#accounts/permissions.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';

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
    const access = parseAccess({ permissions: { read: [' Devs ', '', 'devs'], Write: ['SRE'], CREATE: [] } });
    expect(access).toEqual({ ...open, permissions: { READ: ['devs'], WRITE: ['sre'] } });
  });

  test('permissions and legacy groups both hold: neither opens what the other closes', () => {
    const both = (permissions: JsonObject): unknown =>
      parseAccess({ permissions, requiredGroupMembership: ['Ops', 'sre'] });

    const permissions = { READ: ['ops'], WRITE: ['sre'] };
    expect(both({ READ: ['devs', 'ops'], WRITE: ['SRE'] })).toEqual({ ...open, permissions });
    // An empty list, or none at all, would be taken for an account that is open to all.
    expect(both({ READ: ['devs'] })).toEqual({ ...open, permissions: { READ: [nobody] } });
  });

  test('keys are bound as Spring binds them', () => {
    expect(parseAccess({ PERMISSIONS: { READ: ['a'] } }).permissions).toEqual({ READ: ['a'] });
    expect(parseAccess({ 'required-group-membership': ['a'] }).requiredGroupMembership).toEqual(['a']);
  });

  test('one authorization in two spellings has the groups of both', () => {
    const { permissions } = parseAccess({ permissions: { READ: ['a'], read: ['b'] } });
    expect(permissions).toEqual({ READ: ['a', 'b'] });
  });

  test('a comma-separated string is a list, numbers are names', () => {
    const { permissions } = parseAccess({ permissions: { READ: 'a, b', EXECUTE: [7] } });
    expect(permissions).toEqual({ READ: ['a', 'b'], EXECUTE: ['7'] });
  });
});

describe('mistakes', () => {
  const four = 'READ, WRITE, EXECUTE, CREATE';
  const blank = 'expected group names, got only blank ones';
  test.each([
    [{ permissions: { RAED: ['a'] } }, `permissions.RAED: expected one of ${four}`],
    [{ permissions: { READS: [] } }, `permissions.READS: expected one of ${four}`],
    [{ permissions: { toString: ['a'] } }, `permissions.toString: expected one of ${four}`],
    [{ permissions: ['a'] }, `permissions: expected a map from ${four} to lists of groups`],
    [{ permissions: 'a' }, `permissions: expected a map from ${four} to lists of groups`],
    [{ permissions: { READ: { a: 1 } } }, 'permissions.READ: expected a list of group names'],
    [{ permissions: { READ: [['a']] } }, 'permissions.READ: expected a list of group names'],
    [{ permissions: { READ: [' '] } }, `permissions.READ: ${blank}`],
    [{ permissions: { READ: '' } }, `permissions.READ: ${blank}`],
    [{ requiredGroupMembership: [''] }, `requiredGroupMembership: ${blank}`],
  ])('%j is refused', (account, message) => {
    expect(() => parseAccess(account as JsonObject, 'at')).toThrow(new InvalidInputError([`at.${message}`]));
  });

  const misspelt = ['permission', 'premissions', 'Permisions', 'permissons', 'requiredGroupMemberships'];
  test.each(misspelt)('the misspelt key %s is refused', (key) => {
    expect(() => parseAccess({ [key]: { READ: ['a'] } })).toThrow(/too much like one of permissions, /);
  });

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
    const access = { permissions: { A: ['a'], B: ['b'] } };
    expect(() => parseAccess(access)).toThrow(/permissions\.A.*; permissions\.B/);
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

import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { levelsMax, namesMax, parsePermission } from '#providers/fiat/answers.ts';
import { toView } from '#test/support/services/fiat.ts';

const parse = (answer: JsonValue) => parsePermission(answer, 'ada');

describe("Fiat's answer", () => {
  it('tells what a user may do, names in lower case', () => {
    const permission = parse(
      toView('ada', {
        accounts: { Prod: ['READ', 'WRITE'], test: [] },
        applications: { Shop: ['EXECUTE'] },
        roles: ['Ops'],
        accountManager: true,
        allowAccessToUnknownApplications: true,
      }),
    );
    expect(permission).toEqual({
      user: 'ada',
      isAdmin: false,
      isAccountManager: true,
      roles: new Set(['ops']),
      accounts: new Map([
        ['prod', new Set(['READ', 'WRITE'])],
        ['test', new Set()],
      ]),
      applications: new Map([['shop', new Set(['EXECUTE'])]]),
      allowAccessToUnknownApplications: true,
    });
    expect(parse(toView('ada', { admin: true })).isAdmin).toBe(true);
  });

  it.each<[JsonValue]>([
    [{ name: 'ada' }],
    [{ accounts: null, applications: null, roles: null, admin: null }],
    [{ legacyFallback: true, accounts: [] }],
  ])('%j gives nothing', (answer) => {
    expect(parse(answer)).toMatchObject({
      isAdmin: false,
      isAccountManager: false,
      accounts: new Map(),
      applications: new Map(),
      allowAccessToUnknownApplications: false,
    });
  });

  it('counts names that differ in case alone as one, with the authorizations of all', () => {
    const accounts = [
      { name: 'prod', authorizations: ['READ'] },
      { name: 'PROD', authorizations: ['WRITE'] },
    ];
    expect(parse({ accounts }).accounts).toEqual(new Map([['prod', new Set(['READ', 'WRITE'])]]));
  });

  it('gives nothing for authorizations that are not known', () => {
    const accounts = [{ name: 'a', authorizations: ['read', 'ADMIN', 3, null] }, { name: 'b' }];
    expect([...parse({ accounts }).accounts.values()]).toEqual([new Set(), new Set()]);
  });

  it('keeps names apart from the members of objects', () => {
    const accounts = ['constructor', '__proto__'].map((name) => ({ name, authorizations: ['READ'] }));
    expect([...parse({ accounts }).accounts.keys()]).toEqual(['constructor', '__proto__']);
    expect(parse({}).accounts.get('constructor')).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['a list', []],
    ['null', null],
    ['a text', 'planted'],
    ['accounts by name', { accounts: { planted: ['READ'] } }],
    ['an account without a name', { accounts: [{ authorizations: ['READ'] }] }],
    ['a name that is no text', { applications: [{ name: 7 }] }],
    ['an entry that is none', { accounts: ['planted'] }],
    ['authorizations that are no list', { accounts: [{ name: 'planted', authorizations: 'READ' }] }],
    ['a flag that is none', { admin: 'true' }],
    ['nesting', JSON.parse(`{"a":${'['.repeat(levelsMax + 1)}1${']'.repeat(levelsMax + 1)}}`)],
    ['too many names', { applications: Array.from({ length: namesMax + 1 }, () => ({ name: 'a' })) }],
  ])('is refused when it is or has %s, and not quoted', (_, answer) => {
    expect(() => parse(answer)).toThrow(/^its answer (is|has|names) /);
    expect(() => parse(answer)).not.toThrow('planted');
  });
});

import { expect, test } from 'vitest';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { parseGitReference } from '#providers/artifacts/git-repo/git-reference.ts';

const rules = { allowedHosts: [], pattern: undefined, authType: 'SSH' } as const;

test.each([
  ['git@github.com:acme/shop.git', { host: 'github.com', user: 'git', path: 'acme/shop.git' }],
  ['git@GitHub.com:/acme/shop.git', { host: 'github.com', user: 'git', path: '/acme/shop.git' }],
  ['ann@[2001:db8::1]:shop', { host: '2001:db8::1', user: 'ann', path: 'shop' }],
  ['ssh://github.com/acme/shop.git', { host: 'github.com', path: '/acme/shop.git' }],
  [
    'ssh://git@git.example.com:2222/a%20b',
    { host: 'git.example.com', port: '2222', user: 'git', path: '/a b' },
  ],
  [
    'ssh://ann@[2001:db8::1]:22/~ann/shop',
    { host: '2001:db8::1', port: '22', user: 'ann', path: '~ann/shop' },
  ],
  ['ssh://git@0x7f.1/shop', { host: '127.0.0.1', user: 'git', path: '/shop' }],
])('%s is a repository that is reached by SSH', (reference, ssh) => {
  const expected = { ssh: { port: undefined, user: undefined, ...ssh } };
  expect(parseGitReference({ type: 'git/repo', reference }, rules)).toEqual(expected);
});

test.each([
  ...['ssh://-oProxyCommand=id/shop', 'ssh://git@-oProxyCommand=id/shop', 'git@-oProxyCommand=id:shop'],
  ...['ssh://-lroot@example.com/shop', '-lroot@example.com:shop', 'git@example.com:-shop'],
  ...['git@example.com:--upload-pack=id', 'git@example.com:', 'ssh://git@example.com'],
  ...['ssh://git:planted@example.com/shop', 'ssh://git@example.com:0/shop'],
  ...['ssh://git@example.com:65536/shop', 'ssh://git@example.com:22x/shop', 'ssh://git@example.com/%zz'],
  ...['ssh://git@example.com/a%0ab', 'ssh://git@example.com/a\nb', 'ssh://git@exa mple.com/shop'],
  ...['ssh://git@example.com%20-x/shop', `ssh://git@${'a'.repeat(300)}.com/shop`],
  ...['ssh://git@[example.com]/shop', 'ssh://git@/shop'],
])('%j is no reference', (reference) => {
  expect(() => parseGitReference({ type: 'git/repo', reference }, rules)).toThrow(InvalidInputError);
});

test('of SSH is for an account with a key alone, and others are for the others', () => {
  const http = { type: 'git/repo', reference: 'https://github.com/acme/shop.git?token=planted' };
  expect(() => parseGitReference(http, rules)).toThrow(
    'Git reference "https://github.com" is invalid for credentials with auth type SSH',
  );
  const ssh = { type: 'git/repo', reference: 'git@github.com:acme/shop.git' };
  expect(() => parseGitReference(ssh, { ...rules, authType: 'NONE' })).toThrow(
    'Git reference "git@github.com:acme/shop.git" is invalid for credentials with auth type NONE',
  );
});

test('of SSH is within the hosts and the pattern of its account', () => {
  const limited = { ...rules, allowedHosts: ['github.com'] };
  const parse = (reference: string) => parseGitReference({ type: 'git/repo', reference }, limited);
  expect(parse('git@GITHUB.com:acme/shop.git')).toMatchObject({ ssh: { host: 'github.com' } });
  for (const reference of ['git@github.com.example.com:shop', 'ssh://github.com@example.com/shop']) {
    expect(() => parse(reference)).toThrow(AccessDeniedError);
  }
  const pattern = /^git@github\.com:acme\/.*$/;
  const other = { type: 'git/repo', reference: 'git@github.com:other/shop.git' };
  expect(() => parseGitReference(other, { ...rules, pattern })).toThrow('validGitUrlRegex');
});

import { describe, expect, test } from 'vitest';
import { AccessDeniedError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { limitToOrigins, parseCredentialOrigins } from '#providers/artifacts/download/credential-origins.ts';

function parse(settings: JsonObject, originsOfType: readonly string[] = []): string[] {
  return [...parseCredentialOrigins({ name: 'a', context: 'account a', settings }, originsOfType)];
}

describe('parseCredentialOrigins', () => {
  test.each<[JsonObject, string[]]>([
    [{}, []],
    [{ credentialOrigins: [] }, []],
    [{ 'credential-origins': ['https://Files.Example.com/'] }, ['https://files.example.com']],
    [{ credentialOrigins: ['https://a.example.com:443'] }, ['https://a.example.com']],
    [{ credentialOrigins: ['https://a.example.com:8443'] }, ['https://a.example.com:8443']],
    [{ credentialOrigins: 'https://a.org, http://b.org:81' }, ['https://a.org', 'http://b.org:81']],
    [{ credentialOrigins: ['https://[2001:DB8::1]:1'] }, ['https://[2001:db8::1]:1']],
  ])('reads %j', (settings, origins) => {
    expect(parse(settings)).toEqual(origins);
  });

  test.each<[string, string[]]>([
    ['ghe.corp', ['https://ghe.corp']],
    ['GHE\\.Corp', ['https://ghe.corp']],
    ['files', ['https://files']],
    ['.*', []],
    ['.*\\.example\\.com', []],
    ['(a|b)\\.org', []],
    ['10.0.0.1', []],
    ['a..b', ['https://a..b']],
  ])('takes the allowed domain %s for an origin only where it spells out a host', (domain, origins) => {
    expect(parse({ urlRestrictions: { allowedDomains: [domain] } })).toEqual(origins);
  });

  test('has the origins of the type unless the account lists its own, even none', () => {
    const ofType = ['https://api.github.com'];
    const urlRestrictions = { allowedDomains: ['github.com', '.*\\.github\\.com'] };
    expect(parse({}, ofType)).toEqual(ofType);
    expect(parse({ urlRestrictions }, ofType)).toEqual([...ofType, 'https://github.com']);
    expect(parse({ credentialOrigins: ['https://ghe.example.com'] }, ofType)).toEqual([
      'https://ghe.example.com',
    ]);
    expect(parse({ credentialOrigins: [] }, ofType)).toEqual([]);
  });

  test('takes both lists together', () => {
    const urlRestrictions = { 'allowed-domains': ['a.org'] };
    expect(parse({ credentialOrigins: ['https://b.org'], urlRestrictions })).toEqual([
      'https://b.org',
      'https://a.org',
    ]);
  });

  test.each([
    ...['planted.example.com', '//planted.example.com', 'ftp://planted.example.com'],
    ...['https://planted.example.com/path', 'https://planted.example.com?'],
    ...['https://planted.example.com#x', 'https://user:planted@a.example.com', 'https://*'],
    ...['https://*.planted.example.com', 'https://', 'null'],
  ])('refuses %s without repeating it', (entry) => {
    const read = () => parse({ credentialOrigins: ['https://a.org', entry] });
    expect(read).toThrow(
      /^account a: credentialOrigins\[1\]: expected an origin such as https:\/\/files.example.com:8443$/,
    );
  });

  test('refuses a list that lost its only entry', () => {
    expect(() => parse({ credentialOrigins: [''] })).toThrow('credentialOrigins[0]: expected a name');
  });
});

describe('limitToOrigins', () => {
  const authorize = limitToOrigins(async () => ({ authorization: 'token planted' }), {
    origins: new Set(['https://files.example.com', 'http://files.example.com:8080']),
    setting: 'credentialOrigins',
    context: 'account a',
  });

  test.each([
    'https://files.example.com/a?b=c',
    'https://FILES.example.com:443/',
    'http://files.example.com:8080/',
  ])('authenticates at %s', async (url) => {
    expect((await authorize(new URL(url)))?.authorization).toBe('token planted');
  });

  test.each([
    ['http://files.example.com/a', 'http://files.example.com'],
    ['https://files.example.com:8443/', 'https://files.example.com:8443'],
    ['https://files.example.com./', 'https://files.example.com.'],
    ['https://a.files.example.com/', 'https://a.files.example.com'],
    ['https://files.example.com.evil.org/', 'https://files.example.com.evil.org'],
    ['https://evil.org/?x=https://files.example.com', 'https://evil.org'],
    ['https://evil.org#@files.example.com', 'https://evil.org'],
    [`https://${'a'.repeat(300)}.org/`, `https://${'a'.repeat(64)}…`],
  ])('refuses %s by its origin and the setting', async (url, origin) => {
    await expect(authorize(new URL(url))).rejects.toThrow(
      new AccessDeniedError(
        `account a: its credentials may not go to ${origin}: that origin is not in credentialOrigins`,
      ),
    );
  });

  test('gives no credentials to what is not HTTP', async () => {
    expect(await authorize(new URL('ftp://files.example.com/'))).toBeUndefined();
  });
});

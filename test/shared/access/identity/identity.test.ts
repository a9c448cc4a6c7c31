import { describe, expect, it } from 'vitest';
import { createIdentifier, type Identity } from '#access/identity/identity.ts';
import type { JsonObject } from '#core/json.ts';
import { parseError } from '#http/error-body.ts';
import { createTestClock, createTestLog } from '#test/shared/providers/artifacts/options.ts';
import { createProxyEvent, type RawHeaders } from '#test/support/system/proxy-event.ts';

async function identify(
  identity: JsonObject | string,
  headers: RawHeaders,
  subject?: string,
): Promise<Identity> {
  const settings = { busdriver: { identity } };
  const identifier = await createIdentifier(settings, { clock: createTestClock(), log: createTestLog() });
  return identifier.identify(createProxyEvent(headers, subject));
}

/** Status and message with which a request is refused. */
async function refusalOf(...request: Parameters<typeof identify>): Promise<string> {
  const error: unknown = await identify(...request).catch((reason: unknown) => reason);
  const { status, message } = parseError(error, 0);
  return `${status} ${message}`;
}

const user = 'X-SPINNAKER-USER';
const accounts = 'X-SPINNAKER-ACCOUNTS';
const ada = [user, 'ada'] as const;
const eve = [user, 'eve'] as const;
const prod = [accounts, 'prod'] as const;
const built = [user, 'constructor'] as const;

describe('by headers', () => {
  it.each<[RawHeaders, string | undefined, readonly string[] | undefined]>([
    [[], undefined, undefined],
    [[ada], 'ada', undefined],
    [[['x-spinnaker-user', ' \tada\t ']], 'ada', undefined],
    [[[user, 'ada\u00a0']], 'ada\u00a0', undefined],
    [[[user, '\u00a0 ada']], '\u00a0 ada', undefined],
    [[[accounts, 'prod\u00a0, \u00a0test,\tdev ']], undefined, ['prod\u00a0', '\u00a0test', 'dev']],
    [[[user, '']], undefined, undefined],
    [[ada, eve], undefined, undefined],
    [[ada, ada], undefined, undefined],
    [[ada, ['x-Spinnaker-user', 'eve']], undefined, undefined],
    [[[accounts, 'prod, Test ,,x']], undefined, ['prod', 'Test', 'x']],
    [[[accounts, '']], undefined, []],
    [[ada, prod, [accounts, 'secret']], 'ada', undefined],
    [[ada, prod, ['x-spinnaker-accounts', 'secret']], 'ada', undefined],
    [[built, ['__proto__', 'x'], [accounts, '__proto__']], 'constructor', ['__proto__']],
  ])('%j is user %j with accounts %j', async (headers, name, allowedAccounts) => {
    expect(await identify('header', headers)).toEqual({ kind: 'header', user: name, allowedAccounts });
  });

  it('is how callers are known where nothing says otherwise, whatever else they bring', async () => {
    const identifier = await createIdentifier({}, { clock: createTestClock(), log: createTestLog() });
    const event = createProxyEvent([ada, ['X-Busdriver-Identity', 'x']], 'CN=gate');
    expect(await identifier.identify(event)).toEqual({ kind: 'header', user: 'ada' });
  });

  it('reads events without lists of values', async () => {
    const identifier = await createIdentifier({}, { clock: createTestClock(), log: createTestLog() });
    const event = { ...createProxyEvent([ada]), multiValueHeaders: null as never };
    expect(await identifier.identify(event)).toMatchObject({ user: 'ada' });
  });
});

describe('by certificates', () => {
  const trusting = { mode: 'mtls', trustedSubjects: ['CN=gate, OU=Spinnaker, O="Example, Inc."', 'cn=orca'] };
  const headers: RawHeaders = [ada, [accounts, 'prod,test']];

  it.each([
    'CN=gate,OU=Spinnaker,O=Example\\, Inc.',
    'cn = gate , ou=Spinnaker , O="Example, Inc."',
    'O=Example\\2C Inc.,OU=Spinnaker,CN=gate',
    'CN=orca',
  ])('%s, which is trusted, speaks for the user', async (subject) => {
    const known = { kind: 'mtls', user: 'ada', allowedAccounts: ['prod', 'test'] };
    expect(await identify(trusting, headers, subject)).toEqual(known);
    expect(await identify(trusting, [ada, eve], subject)).toMatchObject({ user: undefined });
  });

  it.each([
    ['CN=gate,OU=Spinnaker', 'gate'],
    ['CN=gate,OU=Spinnaker,O=Example\\, Inc.,C=US', 'gate'],
    ['CN=Orca', 'Orca'],
    ['CN=orca\\,OU\\=x', 'orca,OU=x'],
    ['OU=orca,CN=eve', 'eve'],
    ['C=DE,CN=J\\C3\\BCrgen', 'Jürgen'],
    ['CN="a+b;c"', 'a+b;c'],
    ['CN= orca x ', 'orca x'],
    ['CN=orca\u00a0', 'orca\u00a0'],
    ['CN=\u2003orca', '\u2003orca'],
    ['CN=orca\\C2\\A0', 'orca\u00a0'],
  ])('%s speaks for itself alone: %s', async (subject, name) => {
    expect(await identify(trusting, headers, subject)).toEqual({ kind: 'mtls', user: name });
    expect(await identify('mtls', headers, subject)).toMatchObject({ user: name });
  });

  it.each([
    [undefined, 'Expected a client certificate'],
    ['', 'Expected a client certificate'],
    ['gate', 'a subject that is no distinguished name'],
    ['CN=gate\\', 'a subject that is no distinguished name'],
    ['CN="gate', 'a subject that is no distinguished name'],
    ['CN=gate\\00', 'a subject that is no distinguished name'],
    ['CN=\\ff', 'a subject that is no distinguished name'],
    [`CN=${'x'.repeat(5_000)}`, 'a subject that is no distinguished name'],
    ['O=Example', 'no single common name'],
    ['CN=orca,CN=eve', 'no single common name'],
    ['CN=orca+CN=eve', 'no single common name'],
    [`CN=${'x'.repeat(2_000)}`, 'no single common name'],
  ])('%s is refused with 401', async (subject, message) => {
    expect(await refusalOf(trusting, headers, subject)).toMatch(new RegExp(`^401 .*${message}`));
  });

  it('reads the worst subject in no time', async () => {
    const startedMs = performance.now();
    for (const worst of ['\\', ',', '" ', 'CN=\\ ', '=', '\\c3'])
      await refusalOf(trusting, headers, worst.repeat(1_000_000));
    await refusalOf(trusting, headers, `CN=${'\\ '.repeat(2_000)}`);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

describe('settings', () => {
  it.each([
    ['nobody', '.mode: expected one of header, signed, mtls'],
    [{}, '.mode: expected a value, got none'],
    [['mtls'], '.mode: expected a string, got a list'],
    [{ trustedSubjects: ['CN=gate'] }, '.mode: expected a value, got none'],
    [
      { mode: 'mtls', trustedSubject: ['CN=gate'] },
      '.trustedSubject: unknown with mode mtls, which has: mode, trustedSubjects',
    ],
    [{ mode: 'header', jwksUrl: 'https://a' }, '.jwksUrl: unknown with mode header'],
    [{ mode: 'mtls', trustedSubjects: ['gate'] }, '.trustedSubjects[0]: expected a distinguished'],
    [{ mode: 'mtls', trustedSubjects: Array(101).fill('CN=a') }, '.trustedSubjects: expected at most 100'],
    ['signed', '.issuer: expected a value, got none'],
    [signed({}), ': expected either jwksUrl or jwks'],
    [byUrl({ jwks: {} }), ': expected either jwksUrl or jwks'],
    [signed({ jwksUrl: 'http://keys.example.com' }), '.jwksUrl: expected an https URL'],
    [signed({ jwksUrl: 'http://127.0.0.1.example.com' }), '.jwksUrl: expected an https URL'],
    [signed({ jwksUrl: 'https://u:p@keys.example.com' }), '.jwksUrl: expected an https URL'],
    [signed({ jwks: '{' }), '.jwks: expected a set of keys (RFC 7517), got a string that is no JSON'],
    [signed({ jwks: { keys: [] } }), '.jwks: expected a set of 1 to 100 keys'],
    [signed({ jwks: { keys: [{ kty: 'oct', k: 'planted' }] } }), '.jwks.keys[0]: expected a public'],
    [signed({ jwks: { keys: [{ kty: 'EC', d: 'planted' }] } }), '.jwks.keys[0]: expected a public'],
    [byUrl({ audience: '' }), '.audience: expected the audience'],
    [byUrl({ issuer: ' ' }), '.issuer: expected the issuer'],
    [byUrl({ algorithms: ['none'] }), '.algorithms: expected some of RS256'],
    [byUrl({ algorithms: 'HS256' }), '.algorithms: expected some of RS256'],
    [byUrl({ algorithms: [] }), '.algorithms: expected some of RS256'],
  ])('%j is refused by name', async (identity, message) => {
    const failure = await identify(identity as never, []).catch(String);
    expect(failure).toContain(`busdriver.identity${message}`);
    expect(failure).not.toContain('planted');
  });
});

const byUrl = (more: JsonObject) => signed({ jwksUrl: 'https://a', ...more });

function signed(more: JsonObject): JsonObject {
  return { mode: 'signed', issuer: 'gate', audience: 'busdriver', ...more };
}

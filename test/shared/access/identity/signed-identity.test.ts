import { createServer, type RequestListener, type Server } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Identifier, Identity } from '#access/identity/identity.ts';
import { createIdentifier } from '#access/identity/identity.ts';
import { keysBytesMax } from '#access/identity/key-set.ts';
import { tokenAccountsMax } from '#access/identity/signed-identity.ts';
import { UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { parseError } from '#http/error-body.ts';
import { createTestClock, createTestLog, type TestClock } from '#test/shared/providers/artifacts/options.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';
import { createProxyEvent, type RawHeaders } from '#test/support/system/proxy-event.ts';

interface Signer {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  /** With `kid` and `alg`. */
  readonly jwk: JWK;
}

const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];
const signers = new Map<string, Signer>();
let stranger: Signer;
let server: Server;
let url: string;
/** How the server of keys answers, and how often it did. */
let answer: RequestListener;
let fetched: number;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let identifier: Identifier;

beforeAll(async () => {
  for (const alg of algorithms) signers.set(alg, await createSigner(alg, `key-${alg}`));
  stranger = await createSigner('ES256', 'key-of-a-stranger');
  server = createServer((request, response) => {
    fetched += 1;
    answer(request, response);
  });
  url = `http://127.0.0.1:${await listenLocally(server)}/jwks`;
});
afterAll(() => closeServer(server));
beforeEach(async () => {
  fetched = 0;
  answer = withKeys(...signers.values());
  clock = createTestClock();
  log = createTestLog();
  identifier = await open({ jwksUrl: url });
});
afterEach(() => {
  expect(log.lines.join()).not.toContain('eyJ');
});

async function createSigner(alg: string, kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

function getSigner(alg: string): Signer {
  const signer = signers.get(alg);
  if (signer === undefined) throw new Error(alg);
  return signer;
}

const withText = (text: string): RequestListener => {
  return (_, response) => response.end(text);
};
const withKeys = (...keys: readonly Signer[]): RequestListener =>
  withText(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));

function open(more: JsonObject): Promise<Identifier> {
  const identity = { mode: 'signed', issuer: 'https://gate', audience: ['busdriver', 'other'], ...more };
  return createIdentifier({ busdriver: { identity } }, { clock, log });
}

/** A token of five minutes for Ada. */
async function sign(
  changes: JWTPayload = {},
  { alg, privateKey, jwk }: Signer = getSigner('ES256'),
): Promise<string> {
  const nowSeconds = clock.now() / 1000;
  const claims = { iss: 'https://gate', aud: 'busdriver', sub: 'ada', exp: nowSeconds + 300, ...changes };
  return new SignJWT(claims).setProtectedHeader({ alg, kid: jwk.kid ?? '' }).sign(privateKey);
}

function identify(token: string | undefined, more: RawHeaders = []): Promise<Identity> {
  const headers: RawHeaders = token === undefined ? more : [['X-Busdriver-Identity', token], ...more];
  return identifier.identify(createProxyEvent(headers));
}

async function refusalOf(...request: Parameters<typeof identify>): Promise<string> {
  const error: unknown = await identify(...request).catch((reason: unknown) => reason);
  const { status, message } = parseError(error, 0);
  expect(message).not.toContain('eyJ');
  return `${status} ${message}`;
}

/** A token with another header and another signature. */
function forge(token: string, header: JsonObject, signature = ''): string {
  const [, claims] = token.split('.');
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}.${signature}`;
}

describe('a token', () => {
  it.each(algorithms)('signed by %s tells the user', async (alg) => {
    expect(await identify(await sign({}, getSigner(alg)))).toEqual({ kind: 'signed', user: 'ada' });
    expect(fetched).toBe(1);
  });

  it('tells the accounts, whatever headers say', async () => {
    const token = await sign({ accounts: ['prod', ' Test ', ''], aud: ['x', 'other'] });
    const headers: RawHeaders = [['X-SPINNAKER-ACCOUNTS', 'secret']];
    expect(await identify(token, headers)).toMatchObject({ allowedAccounts: ['prod', 'Test'] });
    expect(await identify(await sign(), headers)).toMatchObject({ allowedAccounts: undefined });
  });

  it('may be a minute too old or too new, for clocks differ', async () => {
    const nowSeconds = clock.now() / 1000;
    const token = await sign({ exp: nowSeconds - 59, nbf: nowSeconds + 59 });
    expect(await identify(token)).toMatchObject({ user: 'ada' });
  });

  it.each<[string, (nowSeconds: number) => JWTPayload]>([
    ['exp', (now) => ({ exp: now - 61 })],
    ['exp', () => ({ exp: undefined }) as unknown as JWTPayload],
    ['nbf', (now) => ({ nbf: now + 61 })],
    ['iss', () => ({ iss: 'https://elsewhere' })],
    ['aud', () => ({ aud: 'elsewhere' })],
    ['sub', () => ({ sub: undefined }) as unknown as JWTPayload],
    ['sub', () => ({ sub: ' ' })],
    ['accounts', () => ({ accounts: 'prod' })],
    ['accounts', () => ({ accounts: ['prod', 7] })],
    ['accounts', () => ({ accounts: Array(tokenAccountsMax + 1).fill('') })],
  ])('with a wrong %s is refused with 401', async (claim, change) => {
    expect(await refusalOf(await sign(change(clock.now() / 1000)))).toMatch(
      new RegExp(`^401 X-Busdriver-Identity is (refused: .*${claim}|longer)`),
    );
  });

  const forged = 'A'.repeat(86);
  it.each([
    ['no signature', (token: string) => forge(token, { alg: 'none' })],
    ['a shared key', (token: string) => forge(token, { alg: 'HS256', kid: 'key-RS256' }, 'AAAA')],
    ['another signature', (token: string) => forge(token, { alg: 'ES256', kid: 'key-ES256' }, forged)],
    ['no form', () => 'nonsense'],
    ['no end', () => 'x'.repeat(20_000)],
  ])('with %s is refused with 401', async (_, spoil) => {
    expect(await refusalOf(spoil(await sign()))).toMatch(/^401 X-Busdriver-Identity is (refused|longer)/);
  });

  it('of an algorithm that settings leave out is refused', async () => {
    identifier = await open({ jwksUrl: url, algorithms: ['RS256'] });
    expect(await identify(await sign({}, getSigner('RS256')))).toMatchObject({ user: 'ada' });
    expect(await refusalOf(await sign())).toMatch(/^401 .*"alg"/);
  });

  it('must be there, and alone', async () => {
    const token = await sign();
    expect(await refusalOf(undefined, [['X-SPINNAKER-USER', 'ada']])).toMatch(/^401 Expected one header/);
    expect(await refusalOf(token, [['x-busdriver-identity', token]])).toMatch(/^401 Expected one header/);
  });

  it('must say what X-SPINNAKER-USER says', async () => {
    const token = await sign();
    expect(await identify(token, [['X-SPINNAKER-USER', 'ada']])).toMatchObject({ user: 'ada' });
    for (const others of [['eve'], ['ada', 'eve'], ['']]) {
      const headers = others.map((name) => ['X-SPINNAKER-USER', name] as const);
      expect(await refusalOf(token, headers)).toBe(
        '401 X-SPINNAKER-USER names another user than X-Busdriver-Identity',
      );
    }
  });

  it('is verified with keys of the settings, too', async () => {
    const { jwk } = getSigner('ES256');
    for (const jwks of [{ keys: [jwk] }, JSON.stringify({ keys: [jwk] })]) {
      identifier = await open({ jwks: jwks as JsonObject });
      expect(await identify(await sign())).toMatchObject({ user: 'ada' });
      expect(await refusalOf(await sign({}, stranger))).toMatch(/^401 .*no applicable key/);
    }
    expect(fetched).toBe(0);
  });
});

describe('keys', () => {
  it('are fetched once for many, and again for a token whose key is not known, at most each 30 seconds', async () => {
    const token = await sign();
    await Promise.all(Array.from({ length: 50 }, () => identify(token)));
    expect(fetched).toBe(1);

    for (let request = 0; request < 20; request += 1)
      expect(await refusalOf(await sign({}, stranger))).toMatch(/^401 .*no applicable key/);
    expect(fetched).toBe(1);

    answer = withKeys(...signers.values(), stranger);
    clock.advance(30_000);
    const fresh = await sign({}, stranger);
    const identities = await Promise.all(Array.from({ length: 20 }, () => identify(fresh)));
    expect(identities.every(({ user }) => user === 'ada')).toBe(true);
    expect(fetched).toBe(2);
  });

  it('that are ten minutes old are fetched anew, so one that was taken away is refused', async () => {
    await identify(await sign());
    answer = withKeys(stranger);
    clock.advance(10 * 60_000);
    expect(await refusalOf(await sign())).toMatch(/^401 .*no applicable key/);
  });

  it('that cannot be fetched anew are used for an hour', async () => {
    await identify(await sign());
    answer = (_, response) => response.writeHead(500).end();
    clock.advance(59 * 60_000);
    expect(await identify(await sign())).toMatchObject({ user: 'ada' });
    clock.advance(60_000);
    expect(await refusalOf(await sign())).toMatch(/^503 The keys of http.* cannot be had: it answered 500$/);
    expect(log.lines).not.toEqual([]);
  });

  it.each<[string, RequestListener]>([
    ['it answered 500', (_, response) => response.writeHead(500).end()],
    ['it answered 302', (_, response) => response.writeHead(302, { location: url }).end()],
    ['its answer is not JSON', withText('<html>')],
    ['its answer: expected a set of 1 to 100 keys', withText('{"keys": []}')],
    ['its answer.keys[0]: expected a public key', withText('{"keys": [{"kty": "oct", "k": "planted"}]}')],
    [`its answer is larger than ${keysBytesMax} bytes`, withText(' '.repeat(keysBytesMax + 1))],
    ['socket hang up', (_, response) => response.socket?.end()],
  ])('that cannot be had (%s) let nobody in, and are asked for again later', async (reason, bad) => {
    answer = bad;
    const token = await sign();
    for (let request = 0; request < 3; request += 1) {
      const failure: unknown = await identify(token).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UnavailableError);
      expect(String(failure)).toContain(reason);
      expect(String(failure)).not.toContain('planted');
    }
    expect(fetched).toBe(1);
    answer = withKeys(...signers.values());
    clock.advance(30_000);
    expect(await identify(token)).toMatchObject({ user: 'ada' });
  });
});

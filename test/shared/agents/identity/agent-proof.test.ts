import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { keysBytesMax } from '#access/identity/key-set.ts';
import type { ServiceAccountAuth } from '#accounts/model/account.ts';
import type { SessionAccount } from '#agents/agent-session.ts';
import { toIdentity } from '#agents/identity/agent-identity.ts';
import { AgentProofs } from '#agents/identity/agent-proof.ts';
import { proofKeysMax } from '#agents/identity/token-proof.ts';
import { UnavailableError } from '#core/errors.ts';
import { createTestClock, createTestLog, type TestClock } from '#test/shared/providers/artifacts/options.ts';
import { type JwksServer, startJwksServer } from '#test/support/agents/jwks-server.ts';

interface Key {
  readonly jwk: JWK;
  sign(): Promise<string>;
}

const minute = 60_000;
const issuer = 'https://kubernetes.default.svc';
const subject = 'system:serviceaccount:busdriver:agent';
const trusted = getCACertificates('default');
const keys: Key[] = [];
let server: JwksServer;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let proofs: AgentProofs;
let auth: ServiceAccountAuth;

beforeAll(async () => {
  for (const kid of ['one', 'two', 'three']) keys.push(await createKey(kid));
});
beforeEach(async () => {
  server = await startJwksServer();
  // As NODE_EXTRA_CA_CERTS does for a process.
  setDefaultCACertificates([...trusted, server.authority]);
  clock = createTestClock();
  log = createTestLog();
  proofs = new AgentProofs({ clock, log, audience: 'busdriver:local' });
  auth = { type: 'serviceAccount', issuer, subject, keys: { url: new URL(server.url) } };
});
afterEach(() => server[Symbol.asyncDispose]());
afterAll(() => setDefaultCACertificates(trusted));

async function createKey(kid: string | undefined): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    jwk: { ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }), alg: 'ES256', use: 'sig' },
    sign: () =>
      new SignJWT({ iss: issuer, sub: subject, aud: 'busdriver:local', exp: clock.now() / 1000 + 600 })
        .setProtectedHeader({ alg: 'ES256', ...(kid !== undefined && { kid }) })
        .sign(privateKey),
  };
}

function getKey(index: number): Key {
  const key = keys[index];
  if (key === undefined) throw new Error(`no key ${index}`);
  return key;
}

/** Whether a token by a key proves the agent, and how often keys have been asked for by then. */
async function look(index: number): Promise<readonly [isProved: boolean, requests: number]> {
  const { proved } = await proofs.examine({ token: await getKey(index).sign() }).prove(auth);
  return [proved !== undefined, server.requests];
}

async function refusalOf(index: number): Promise<unknown> {
  const shown = proofs.examine({ token: await getKey(index).sign() });
  return shown.prove(auth).catch((error: unknown) => error);
}

it('remembers the keys of a cluster for ten minutes', async () => {
  server.serve([getKey(0).jwk]);
  expect(await look(0)).toEqual([true, 1]);
  clock.advance(10 * minute - 1);
  expect(await look(0)).toEqual([true, 1]);
  clock.advance(1);
  expect(await look(0)).toEqual([true, 2]);
});

it('fetches them again for a key that is not known, once a minute at most', async () => {
  server.serve([getKey(0).jwk]);
  expect(await look(0)).toEqual([true, 1]);
  // The cluster changes its key, and keeps the former one as long as tokens of it last.
  server.serve([getKey(0).jwk, getKey(1).jwk]);
  clock.advance(minute - 1);
  expect(await look(1)).toEqual([false, 1]);
  clock.advance(1);
  expect(await look(1)).toEqual([true, 2]);
  expect(await look(0)).toEqual([true, 2]);
  // Whoever makes keys up costs the cluster one request a minute.
  for (let tries = 0; tries < 20; tries += 1) expect(await look(2)).toEqual([false, 2]);
  clock.advance(minute);
  expect(await look(2)).toEqual([false, 3]);
});

it('takes a key that the cluster has withdrawn for ten minutes at most', async () => {
  server.serve([getKey(0).jwk]);
  expect(await look(0)).toEqual([true, 1]);
  server.serve([getKey(1).jwk]);
  clock.advance(10 * minute);
  expect(await look(0)).toEqual([false, 2]);
  expect(await look(1)).toEqual([true, 2]);
});

it('goes on with what it has for an hour while they cannot be had', async () => {
  server.serve([getKey(0).jwk]);
  await look(0);
  server.answer = (_request, response) => response.writeHead(503).end();
  clock.advance(59 * minute);
  expect(await look(0)).toEqual([true, 2]);
  clock.advance(minute);
  expect(await refusalOf(0)).toBeInstanceOf(UnavailableError);
});

describe('the proof of a session', () => {
  /** What a session remembers of a token by a key. */
  async function remember(index: number): Promise<Pick<SessionAccount, 'identity' | 'key'>> {
    const outcome = await proofs.examine({ token: await getKey(index).sign() }).prove(auth);
    if (outcome.fault !== undefined) throw new Error(outcome.fault);
    expect(outcome.key).toBe(await calculateJwkThumbprint(getKey(index).jwk));
    return { identity: toIdentity(outcome.proved), key: outcome.key };
  }

  it('is looked for at a URL where that is asked, as seldom as a token', async () => {
    server.serve([getKey(0).jwk, getKey(1).jwk]);
    const [first, second] = [await remember(0), await remember(1)];
    const look = async (proof: typeof first, elsewhere = true) =>
      [await proofs.takes(auth, proof, elsewhere), server.requests] as const;
    server.serve([getKey(1).jwk, getKey(2).jwk]);
    clock.advance(10 * minute - 1);
    expect(await look(first)).toEqual([true, 1]);
    clock.advance(1);
    expect(await look(first, false)).toEqual([true, 1]);
    expect([await look(first), await look(second)]).toEqual([
      [false, 2],
      [true, 2],
    ]);
    expect(await look(await remember(2))).toEqual([true, 2]);
  });

  it('holds while keys cannot be had', async () => {
    server.serve([getKey(0).jwk]);
    const proof = await remember(0);
    server.answer = (_request, response) => response.writeHead(503).end();
    clock.advance(61 * minute);
    expect(await proofs.takes(auth, proof, true)).toBe(true);
  });

  it('is none without its key, of another issuer, and of an account that takes no tokens', async () => {
    server.serve([getKey(0).jwk]);
    const { key, ...keyless } = await remember(0);
    const proof = { ...keyless, key };
    expect(await proofs.takes(auth, proof)).toBe(true);
    expect(await proofs.takes(auth, keyless)).toBe(false);
    expect(await proofs.takes({ ...auth, issuer: 'https://other' }, proof)).toBe(false);
    expect(await proofs.takes({ type: 'certificate', subjects: ['CN=a'] }, proof)).toBe(false);
  });
});

it('asks neither where a redirection leads, nor for more than it needs', async () => {
  await using elsewhere = await startJwksServer();
  elsewhere.serve([getKey(0).jwk]);
  server.answer = (_request, response) => response.writeHead(302, { location: elsewhere.url }).end();
  expect(await refusalOf(0)).toMatchObject({ message: expect.stringContaining('it answered 302') });
  expect(elsewhere.requests).toBe(0);
  server.answer = (_request, response) => response.end(' '.repeat(keysBytesMax + 1));
  clock.advance(minute);
  expect(await refusalOf(0)).toMatchObject({ message: expect.stringContaining('larger than') });
});

it('waits five seconds for an answer', async () => {
  server.answer = () => undefined;
  expect(await refusalOf(0)).toMatchObject({ message: expect.stringContaining('no answer within 5000 ms') });
}, 60_000);

it('does not believe a server that nobody trusts', async () => {
  server.serve([getKey(0).jwk]);
  setDefaultCACertificates(trusted);
  expect(await refusalOf(0)).toBeInstanceOf(UnavailableError);
  expect(server.requests).toBe(0);
});

describe('one token held against many accounts', () => {
  /** How often signatures are looked at while a token is held against accounts, and which of these it proves. */
  async function hold(token: string, accounts: readonly ServiceAccountAuth[]) {
    using verify = vi.spyOn(crypto.subtle, 'verify');
    const shown = proofs.examine({ token });
    const outcomes = [];
    for (const account of accounts) outcomes.push(await shown.prove(account));
    return {
      checks: verify.mock.calls.length,
      proved: outcomes.flatMap((outcome, index) => (outcome.fault === undefined ? [index] : [])),
      faults: [...new Set(outcomes.map((outcome) => outcome.fault))],
    };
  }
  const toAccount = (jwks: readonly JWK[], others: object = {}): ServiceAccountAuth => {
    // As settings have it: each account has a list of its own.
    const own = JSON.parse(JSON.stringify(jwks)) as readonly { [name: string]: string }[];
    return { type: 'serviceAccount', issuer, subject, keys: { keys: own }, ...others };
  };

  it('is verified once for those of one cluster, also where they have other former keys beside it', async () => {
    const token = await getKey(0).sign();
    const accounts = Array.from({ length: 500 }, (_, index) =>
      toAccount([getKey(0).jwk, getKey(1 + (index % 2)).jwk]),
    );
    const { checks, proved } = await hold(token, accounts);
    expect([checks, proved.length]).toEqual([1, 500]);
    const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(86)}`;
    expect(await hold(forged, accounts)).toEqual({
      ...{ checks: 1, proved: [] },
      faults: ['signature verification failed'],
    });
  });

  it('is not verified for those of other issuers and subjects, nor where it is none', async () => {
    const accounts = [
      toAccount([getKey(0).jwk], { issuer: 'https://other.test' }),
      toAccount([getKey(0).jwk], { subject: 'system:serviceaccount:busdriver:other' }),
      toAccount([getKey(0).jwk]),
    ];
    expect(await hold(await getKey(0).sign(), accounts)).toMatchObject({ checks: 1, proved: [2] });
    for (const wrong of ['none', 'a.b.c', `${btoa('{')}.${btoa('{}')}.x`])
      expect(await hold(wrong, accounts)).toMatchObject({ checks: 0, proved: [] });
  });

  it.each([undefined, 'one'])('is tried with %s as its key against 16 clusters at most', async (kid) => {
    const made = await Promise.all(Array.from({ length: 40 }, () => createKey(kid)));
    const accounts = made.map(({ jwk }) => toAccount([jwk]));
    const stranger = await createKey(kid);
    const { checks, proved, faults } = await hold(await stranger.sign(), accounts);
    expect([checks, proved]).toEqual([proofKeysMax, []]);
    expect(faults).toContain('the token was tried with 16 sets of keys already');
    expect(log.lines.filter((line) => line.includes('more keys than are tried'))).toHaveLength(1);
    const tenth = made[10];
    expect(await hold(tenth === undefined ? '' : await tenth.sign(), accounts)).toMatchObject({
      proved: [10],
    });
  });
});

import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { UnavailableError } from '../../../../shared/core/errors.ts';
import type { ServiceAccountAuth } from '../../../../shared/core/settings/account.ts';
import { AgentProofs } from '../../../../shared/runtime/identity/agent-proof.ts';
import { keysBytesMax } from '../../../../shared/runtime/identity/key-set.ts';
import { type JwksServer, startJwksServer } from '../../../support/jwks-server.ts';
import { createTestClock, createTestLog, type TestClock } from '../../providers/artifacts/options.ts';

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

async function createKey(kid: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
    sign: () =>
      new SignJWT({ iss: issuer, sub: subject, aud: 'busdriver:local', exp: clock.now() / 1000 + 600 })
        .setProtectedHeader({ alg: 'ES256', kid })
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
  const { proved } = await proofs.prove({ token: await getKey(index).sign() }, auth);
  return [proved !== undefined, server.requests];
}

async function refusalOf(index: number): Promise<unknown> {
  return proofs.prove({ token: await getKey(index).sign() }, auth).then(
    () => undefined,
    (error: unknown) => error,
  );
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

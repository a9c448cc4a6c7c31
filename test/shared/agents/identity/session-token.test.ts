import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { KMSClient } from '@aws-sdk/client-kms';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKmsSessionKey, toPlainSignature } from '#agents/aws/kms-session-key.ts';
import { openSessionKeyFile } from '#agents/identity/session-key-file.ts';
import { SessionTokens } from '#agents/identity/session-token.ts';
import { UnauthenticatedError, UnavailableError } from '#core/errors.ts';
import { systemRandomness } from '#platform/services/system.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const minuteMs = 60_000;
const clock = { nowMs: Date.UTC(2030, 0), now: () => clock.nowMs };
let dir: TempDir;

beforeEach(async () => {
  clock.nowMs = Date.UTC(2030, 0);
  dir = await makeTempDir();
});
afterEach(() => dir[Symbol.asyncDispose]());

describe('tokens of sessions by a key file', () => {
  const open = () => {
    const keyFile = path.join(dir.path, 'key.jwk');
    return new SessionTokens({ clock, key: openSessionKeyFile({ randomness: systemRandomness, keyFile }) });
  };

  it('name their session to who has the file, for 15 minutes', async () => {
    const { token, expiresMs } = await open().sign('one');
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256' });
    expect(expiresMs).toBe(clock.nowMs + 15 * minuteMs);
    clock.nowMs += 14 * minuteMs;
    expect(await open().verify(token)).toBe('one');
    clock.nowMs += 2 * minuteMs;
    await expect(open().verify(token)).rejects.toThrow(UnauthenticatedError);
  });

  it('are refused over their time also by who found them good before', async () => {
    const tokens = open();
    const { token } = await tokens.sign('one');
    expect([await tokens.verify(token), await tokens.verify(token)]).toEqual(['one', 'one']);
    clock.nowMs += 16 * minuteMs;
    await expect(tokens.verify(token)).rejects.toThrow(UnauthenticatedError);
  });

  it('are refused where another key signed them, or where they were changed', async () => {
    const { token } = await open().sign('one');
    const [header, claims = '', signature] = token.split('.');
    const other = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as object;
    const changed = Buffer.from(JSON.stringify({ ...other, sub: 'two' })).toString('base64url');
    await expect(open().verify([header, changed, signature].join('.'))).rejects.toThrow(UnauthenticatedError);
    await using stranger = await makeTempDir();
    const keyFile = path.join(stranger.path, 'key.jwk');
    const key = openSessionKeyFile({ randomness: systemRandomness, keyFile });
    await expect(new SessionTokens({ clock, key }).verify(token)).rejects.toThrow(UnauthenticatedError);
  });

  it('have one key, however many make it at once, which its owner alone may read', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, async () => (await open().sign('one')).token));
    for (const token of tokens) expect(await open().verify(token)).toBe('one');
    const file = path.join(dir.path, 'key.jwk');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ kty: 'EC', crv: 'P-256' });
  });
});

describe('tokens of sessions by a key of KMS', () => {
  it('verify by the public key, which is asked for once', async () => {
    await using kms = await startKms();
    const one = new SessionTokens({ clock, key: kms.key });
    const { token } = await one.sign('one');
    expect(await one.verify(token)).toBe('one');
    expect(await one.verify(token)).toBe('one');
    expect(kms.calls).toEqual(['Sign', 'GetPublicKey']);
  });

  it('can be had later where KMS is throttled, and the failure is forgotten', async () => {
    await using kms = await startKms();
    const tokens = new SessionTokens({ clock, key: kms.key });
    const { token } = await tokens.sign('one');
    kms.refusal = 'ThrottlingException';
    await expect(tokens.sign('two')).rejects.toThrow(UnavailableError);
    await expect(tokens.verify(token)).rejects.toThrow(UnavailableError);
    kms.refusal = undefined;
    expect(await tokens.verify(token)).toBe('one');
  });

  it('say what is missing where the role may not use it', async () => {
    await using kms = await startKms();
    kms.refusal = 'AccessDeniedException';
    await expect(new SessionTokens({ clock, key: kms.key }).sign('one')).rejects.toThrow(
      "the function's role needs kms:Sign and kms:GetPublicKey",
    );
  });
});

describe('a signature in DER', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  // One in 128 has a number that is shorter than 32 bytes, and one in two one that begins with a zero.
  it('becomes one that JWTs have, whatever its numbers', () => {
    for (let index = 0; index < 2_000; index += 1) {
      const data = Buffer.from(`message ${index}`);
      const plain = toPlainSignature(sign('sha256', data, privateKey));
      expect(plain).toHaveLength(64);
      if (!verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, plain)) {
        expect.fail(`the signature of message ${index} is another one`);
      }
    }
  });

  it.each([
    ['nothing', []],
    ['another tag', [0x31, 0x00]],
    ['a part of one', [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01]],
    ['more than one', [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00]],
    ['one number', [0x30, 0x03, 0x02, 0x01, 0x01]],
    ['an empty number', [0x30, 0x05, 0x02, 0x00, 0x02, 0x01, 0x01]],
    ['a number that is too long', [0x30, 0x26, 0x02, 0x21, ...Array(33).fill(1), 0x02, 0x01, 0x01]],
    ['a long length', [0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]],
  ])('is refused where it is %s', (_what, bytes) => {
    expect(() => toPlainSignature(Uint8Array.from(bytes))).toThrow('no signature of two numbers');
  });
});

/** KMS with one key, by its wire protocol on 127.0.0.1. */
async function startKms() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const calls: string[] = [];
  const kms: { refusal: string | undefined } = { refusal: undefined };
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const { Message = '' } = (await json(request)) as { Message?: string };
    if (kms.refusal !== undefined) {
      response.writeHead(400).end(JSON.stringify({ __type: kms.refusal, message: 'refused' }));
      return;
    }
    calls.push(action);
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const answer =
      action === 'Sign'
        ? { Signature: sign('sha256', Buffer.from(Message, 'base64'), privateKey).toString('base64') }
        : { PublicKey: der.toString('base64') };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer));
  });
  const port = await listenLocally(server);
  const client = new KMSClient({
    region: 'eu-west-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'AKIAOWN', secretAccessKey: 'own-secret-key' },
    maxAttempts: 1,
  });
  const key = createKmsSessionKey(client, 'arn:aws:kms:eu-west-1:123456789012:key/one');
  return Object.assign(kms, {
    calls,
    key,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await closeServer(server);
    },
  });
}

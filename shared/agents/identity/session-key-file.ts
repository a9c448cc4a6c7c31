import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { SessionKey } from '#tasks/session-key.ts';

/** The place of a key. */
export interface SessionKeyFileOptions {
  readonly randomness: Pick<Randomness, 'id'>;
  /** File of the private key as a JWK, which is made when it is missing: readable by this user alone. */
  readonly keyFile: string;
}

/** Bits of a mode that a key must not have: others of the machine do nothing with it, and its group reads it at most. */
const forbiddenMode = 0o037;

/** Bytes of a key at most. */
const keyBytesMax = 4_096;

/**
 * Looks at a key that somebody made before it is needed, for it is the same for several processes.
 *
 * @param option what names the file, for the error
 * @throws Error that names the option, the file and what was expected, and says nothing of its content
 */
export async function checkSessionKeyFile(keyFile: string, option: string): Promise<void> {
  const refuse = (problem: string): Error => new Error(`${option}: ${keyFile} ${problem}`);
  const found = await stat(keyFile).catch((error: unknown) => {
    throw refuse(`cannot be read: ${getErrorMessage(error)}`);
  });
  if ((found.mode & forbiddenMode) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
    throw refuse(`has mode ${mode}: expected 0600, 0400 or 0440, for who reads it can make sessions`);
  }
  if (found.size > keyBytesMax) throw refuse(`has ${found.size} bytes: expected ${keyBytesMax} at most`);
  const text = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw refuse(`cannot be read: ${getErrorMessage(error)}`);
  });
  if (!isSessionKey(text))
    throw refuse('is no private key of ES256: expected a JWK with kty EC, crv P-256, x, y and d');
}

function isSessionKey(text: string): boolean {
  try {
    const key = createPrivateKey({ key: JSON.parse(text), format: 'jwk' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** The key of one machine: it is read once, and remembered. */
export function openSessionKeyFile(options: SessionKeyFileOptions): SessionKey {
  let key: Promise<KeyObject> | undefined;
  const getKey = (): Promise<KeyObject> => {
    key ??= readKey(options).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };
  return {
    sign: async (data) => sign('sha256', data, { key: await getKey(), dsaEncoding: 'ieee-p1363' }),
    readPublicKey: async () => createPublicKey(await getKey()).export({ format: 'der', type: 'spki' }),
  };
}

async function readKey(options: SessionKeyFileOptions): Promise<KeyObject> {
  const text = (await readFile(options.keyFile, 'utf8').catch(ignoreMissing)) ?? (await makeKey(options));
  return createPrivateKey({ key: JSON.parse(text), format: 'jwk' });
}

/** Linked in the place of the file once it is whole: who comes second takes the first one's. */
async function makeKey({ keyFile, randomness }: SessionKeyFileOptions): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const draft = `${keyFile}.${randomness.id()}`;
  await writeFile(draft, JSON.stringify(privateKey.export({ format: 'jwk' })), { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, keyFile).catch(ignoreExisting);
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(keyFile, 'utf8');
}

function ignoreMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

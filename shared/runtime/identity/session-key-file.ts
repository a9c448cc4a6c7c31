import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import type { Randomness } from '../../core/clock.ts';
import type { SessionKey } from '../../core/tasks/session-key.ts';

/** Where a key is. */
export interface SessionKeyFileOptions {
  readonly randomness: Pick<Randomness, 'id'>;
  /** File of the private key as a JWK, which is made when it is missing: readable by this user alone. */
  readonly keyFile: string;
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

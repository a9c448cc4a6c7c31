import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';

/** What of a public key its thumbprint is made of, in that order, by the type of the key: RFC 7638, and RFC 8037 for OKP. */
const members: { readonly [type: string]: readonly (keyof JsonWebKey)[] } = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
};

/**
 * The thumbprint of a public key (RFC 7638, SHA-256, base64url): the same however the key is written, and whatever it is called.
 *
 * @throws Error for a key of another type
 */
export function toThumbprint(key: KeyObject): string {
  const written = key.export({ format: 'jwk' });
  const names = members[written.kty ?? ''];
  if (names === undefined) throw new Error(`keys of type ${written.kty} have no thumbprint here`);
  return hash(
    'sha256',
    JSON.stringify(Object.fromEntries(names.map((name) => [name, written[name]]))),
    'base64url',
  );
}

/** The thumbprints of some public keys, which RFC 7517 writes. One that is malformed has none: nothing is verified with it. */
export function listThumbprints(keys: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(keys.flatMap((key) => findThumbprint(key) ?? []));
}

function findThumbprint(key: JsonObject): string | undefined {
  try {
    return toThumbprint(createPublicKey({ key: key as JsonWebKey, format: 'jwk' }));
  } catch {
    return undefined;
  }
}

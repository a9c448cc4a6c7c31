import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';

/** The members of a public key that make up its thumbprint, in that order, by the type of the key: RFC 7638, and RFC 8037 for OKP. */
const members: { readonly [type: string]: readonly (keyof JsonWebKey)[] } = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
};

/** The thumbprint of a public key (RFC 7638, SHA-256, base64url), whatever its encoding. @throws Error for a key of another type */
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

/** The thumbprints of public keys in RFC 7517's form. A malformed one has none: it verifies nothing. */
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

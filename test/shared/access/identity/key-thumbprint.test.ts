import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { listThumbprints, toThumbprint } from '#access/identity/key-thumbprint.ts';

/** The example of RFC 7638, section 3.1. */
const rsa = {
  kty: 'RSA',
  n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
  e: 'AQAB',
};
const rsaThumbprint = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

/** The example of RFC 8037, appendix A.3. */
const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const ed25519Thumbprint = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';

describe('the thumbprint of a key', () => {
  it.each([
    ['RSA', rsa, rsaThumbprint],
    ['Ed25519', ed25519, ed25519Thumbprint],
  ])('is that of the RFC: %s', (_type, key, thumbprint) => {
    expect(toThumbprint(createPublicKey({ key, format: 'jwk' }))).toBe(thumbprint);
  });

  it.each(['P-256', 'P-384', 'P-521'])('of %s is that which jose makes', async (namedCurve) => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve });
    const jwk = publicKey.export({ format: 'jwk' });
    expect(toThumbprint(publicKey)).toBe(await calculateJwkThumbprint(jwk as JWK));
  });

  it('is the same however the key is written, and whatever it is called', () => {
    const written: readonly JsonWebKey[] = [
      { ...rsa, kid: 'one', alg: 'RS256', use: 'sig' },
      { ...rsa, kid: 'two', alg: 'PS512', key_ops: ['verify'] },
      // A zero before the number, and padding.
      { ...rsa, n: Buffer.concat([Buffer.alloc(1), Buffer.from(rsa.n, 'base64url')]).toString('base64') },
      { ...rsa, e: 'AAEAAQ' },
    ];
    for (const key of written)
      expect([...listThumbprints([JSON.parse(JSON.stringify(key))])]).toEqual([rsaThumbprint]);
  });

  it('is none where there is no key', () => {
    const wrong = [
      {},
      { kty: 'RSA' },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
      { kty: 'oct', k: 'AA' },
    ];
    expect([...listThumbprints([...wrong, ed25519])]).toEqual([ed25519Thumbprint]);
  });
});

/** The key that signs the tokens of agents' sessions: ECDSA on the curve P-256 with SHA-256, which JWTs call ES256. */
export interface SessionKey {
  /** Signs some bytes. @returns 64 bytes, r and s @throws UnavailableError when the key cannot be used for the moment */
  sign(data: Uint8Array): Promise<Uint8Array>;
  /** The public key: a SubjectPublicKeyInfo in DER. @throws UnavailableError when it cannot be had for the moment */
  readPublicKey(): Promise<Uint8Array>;
}

/** The key that signs the tokens of agents' sessions: ECDSA on the curve P-256 with SHA-256, ES256 in JWTs. */
export interface SessionKey {
  /** Signs bytes. @returns 64 bytes, r and s @throws UnavailableError while the key cannot be used */
  sign(data: Uint8Array): Promise<Uint8Array>;
  /** The public key: a SubjectPublicKeyInfo in DER. @throws UnavailableError while it cannot be read */
  readPublicKey(): Promise<Uint8Array>;
}

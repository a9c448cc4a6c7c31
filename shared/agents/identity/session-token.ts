import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type Clock, toSeconds } from '#core/clock.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import type { SessionKey } from '#tasks/session-key.ts';
import { sessionTokenMs } from '../agent-session.ts';

const algorithm = 'ES256';
const issuer = 'busdriver';
const audience = 'busdriver-agent-session';

/** Characters of a token at most. */
const tokenLengthMax = 4_096;

/** Tokens whose signature was found good that are remembered, as hashes: those of a thousand agents, and the ones before. */
const verifiedMax = 4_096;

interface SessionTokensOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Signs them. Its public part is read once, and remembered. */
  readonly key: SessionKey;
}

/** Makes and verifies the tokens by which agents prove their sessions: JWTs that a key of this installation signs. */
export class SessionTokens {
  readonly #options: SessionTokensOptions;
  #publicKey: Promise<KeyObject> | undefined;
  /** By hashes of tokens. An agent shows its token some times a second, and to verify it takes longer than what it asks for. */
  readonly #verified = new Map<string, { readonly sessionId: string; readonly endMs: number }>();

  constructor(options: SessionTokensOptions) {
    this.#options = options;
  }

  /** A token for a session. @throws UnavailableError when the key cannot be used for the moment */
  async sign(sessionId: string): Promise<{ readonly token: string; readonly expiresMs: number }> {
    const { clock, key } = this.#options;
    const nowMs = clock.now();
    const expiresMs = nowMs + sessionTokenMs;
    const claims = {
      sub: sessionId,
      iss: issuer,
      aud: audience,
      iat: toSeconds(nowMs),
      exp: toSeconds(expiresMs),
    };
    // As RFC 7515 has it: what signs may be a service, to which jose's own signer cannot hand over.
    const signed = `${toBase64Url({ alg: algorithm })}.${toBase64Url(claims)}`;
    const signature = Buffer.from(await key.sign(Buffer.from(signed))).toString('base64url');
    return { token: `${signed}.${signature}`, expiresMs };
  }

  /** The id of a token's session. @throws UnauthenticatedError for one not ours, or over; UnavailableError when the key cannot be read */
  async verify(token: string): Promise<string> {
    if (token.length > tokenLengthMax) throw refuse('it is too long');
    const known = this.findVerified(token);
    if (known !== undefined) return known;
    const digest = toDigest(token);
    this.#verified.delete(digest);
    const { sub, exp = 0 } = await this.#readClaims(token);
    if (sub === undefined) throw refuse('it names no session');
    this.#remember(digest, { sessionId: sub, endMs: exp * 1000 });
    return sub;
  }

  /** The id of the session of a token that was found good before and still holds. Nothing is verified. */
  findVerified(token: string): string | undefined {
    const known = token.length > tokenLengthMax ? undefined : this.#verified.get(toDigest(token));
    return known !== undefined && this.#options.clock.now() < known.endMs ? known.sessionId : undefined;
  }

  #remember(digest: string, verified: { readonly sessionId: string; readonly endMs: number }): void {
    this.#verified.set(digest, verified);
    if (this.#verified.size <= verifiedMax) return;
    const [oldest] = this.#verified.keys();
    if (oldest !== undefined) this.#verified.delete(oldest);
  }

  async #readClaims(token: string): Promise<JWTPayload> {
    const key = await this.#getPublicKey();
    const find: JWTVerifyGetKey = async () => key;
    try {
      const options = { issuer, audience, algorithms: [algorithm], requiredClaims: ['exp', 'sub'] };
      const currentDate = new Date(this.#options.clock.now());
      return (await jwtVerify(token, find, { ...options, currentDate })).payload;
    } catch (error) {
      // jose's messages name what is wrong, and quote nothing of the token.
      throw refuse(error instanceof Error ? error.message : 'it is malformed', error);
    }
  }

  #getPublicKey(): Promise<KeyObject> {
    this.#publicKey ??= this.#readPublicKey().catch((error: unknown) => {
      this.#publicKey = undefined;
      throw error;
    });
    return this.#publicKey;
  }

  async #readPublicKey(): Promise<KeyObject> {
    const key = Buffer.from(await this.#options.key.readPublicKey());
    return createPublicKey({ key, format: 'der', type: 'spki' });
  }
}

function toDigest(token: string): string {
  return hash('sha256', token, 'base64');
}

function toBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function refuse(reason: string, cause?: unknown): UnauthenticatedError {
  return new UnauthenticatedError(`The token of the agent's session is refused: ${reason}`, { cause });
}

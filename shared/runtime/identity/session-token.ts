import { link, readFile, rm, writeFile } from 'node:fs/promises';
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Clock, Randomness } from '../../core/clock.ts';
import { UnauthenticatedError } from '../../core/errors.ts';
import { sessionTokenMs } from '../../core/tasks/agent-session.ts';

const algorithm = 'ES256';
const issuer = 'busdriver';
const audience = 'busdriver-agent-session';

/** Characters of a token at most. */
const tokenLengthMax = 4_096;

/** A token of a session, and until when it holds. */
export interface SessionToken {
  readonly token: string;
  readonly expiresMs: number;
}

/** What tokens are made with. */
export interface SessionTokensOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly randomness: Pick<Randomness, 'id'>;
  /** File of the private key, which is made when it is missing: readable by this user alone. */
  readonly keyFile: string;
}

/** Makes and verifies the tokens by which agents prove their sessions: JWTs that a key of this installation signs. */
export class SessionTokens {
  readonly #options: SessionTokensOptions;
  #key: Promise<JWK> | undefined;

  constructor(options: SessionTokensOptions) {
    this.#options = options;
  }

  /** A token for a session. */
  async sign(sessionId: string): Promise<SessionToken> {
    const { clock } = this.#options;
    const nowMs = clock.now();
    const expiresMs = nowMs + sessionTokenMs;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: algorithm })
      .setSubject(sessionId)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(Math.floor(nowMs / 1000))
      .setExpirationTime(Math.floor(expiresMs / 1000))
      .sign(await importJWK(await this.#getKey(), algorithm));
    return { token, expiresMs };
  }

  /** The id of a token's session. @throws UnauthenticatedError for a token that is not ours, or is over its time */
  async verify(token: string): Promise<string> {
    if (token.length > tokenLengthMax) throw refuse('it is too long');
    const { sub } = await this.#readClaims(token);
    if (sub === undefined) throw refuse('it names no session');
    return sub;
  }

  async #readClaims(token: string): Promise<JWTPayload> {
    const { d: _, ...publicKey } = await this.#getKey();
    const key = await importJWK(publicKey, algorithm);
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

  #getKey(): Promise<JWK> {
    this.#key ??= readKey(this.#options).catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }
}

function refuse(reason: string, cause?: unknown): UnauthenticatedError {
  return new UnauthenticatedError(`The token of the agent's session is refused: ${reason}`, { cause });
}

async function readKey(options: SessionTokensOptions): Promise<JWK> {
  const known = await readFile(options.keyFile, 'utf8').catch(ignoreMissing);
  return known === undefined ? makeKey(options) : (JSON.parse(known) as JWK);
}

/** Linked in the place of the file once it is whole: who comes second takes the first one's. */
async function makeKey({ keyFile, randomness }: SessionTokensOptions): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const draft = `${keyFile}.${randomness.id()}`;
  await writeFile(draft, JSON.stringify(await exportJWK(privateKey)), { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, keyFile).catch(ignoreExisting);
  } finally {
    await rm(draft, { force: true });
  }
  return JSON.parse(await readFile(keyFile, 'utf8')) as JWK;
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

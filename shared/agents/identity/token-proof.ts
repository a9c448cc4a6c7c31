import { decodeJwt, decodeProtectedHeader, errors } from 'jose';
import type { ServiceAccountAuth } from '#accounts/model/account.ts';
import type { Logger } from '#core/logger.ts';

/** Sets of keys with which one token is tried: an agent's accounts have that of its cluster, whoever makes tokens up would try them all. */
export const proofKeysMax = 16;

interface TokenProofOptions {
  readonly log: Logger;
  /** Verifies the token with the keys of an account. @throws UnavailableError without keys */
  verify(token: string, auth: ServiceAccountAuth): Promise<TokenOutcome>;
}

/** The outcome of a token: the thumbprint (RFC 7638) of the key that signed it, or why it proves nothing, in words that quote nothing of it. */
export type TokenOutcome =
  | { readonly key: string; readonly fault?: undefined }
  | { readonly fault: string; readonly key?: undefined };

/** One token, held against accounts: of all that have the same keys its signature is looked at once, and of those of other issuers never. */
export class TokenProof {
  readonly #token: string;
  readonly #options: TokenProofOptions;
  /** The token's own claims, which nothing proves yet; undefined where it is no token. */
  readonly #claims: TokenClaims | undefined;
  /** By issuer, subject and keys. */
  readonly #outcomes = new Map<string, Promise<TokenOutcome>>();
  #isLimited = false;

  constructor(token: string, options: TokenProofOptions) {
    this.#token = token;
    this.#options = options;
    this.#claims = readClaims(token);
  }

  /** Whether the token proves an agent of an account. @throws UnavailableError when the account's keys cannot be had */
  async prove(auth: ServiceAccountAuth): Promise<TokenOutcome> {
    if (this.#claims === undefined) return { fault: 'the token is no JSON Web Token' };
    const { issuer, subject, kid } = this.#claims;
    if (issuer !== auth.issuer) return { fault: 'the token is of another issuer' };
    if (subject !== auth.subject) return { fault: 'the token is of another subject' };
    const id = toKeysId(auth, kid);
    const known = this.#outcomes.get(id);
    if (known !== undefined) return known;
    if (this.#outcomes.size >= proofKeysMax) return this.#refuse();
    const outcome = this.#options.verify(this.#token, auth);
    this.#outcomes.set(id, outcome);
    return outcome;
  }

  #refuse(): TokenOutcome {
    if (!this.#isLimited)
      this.#options.log.warn('the accounts of an agent have more keys than are tried', { proofKeysMax });
    this.#isLimited = true;
    return { fault: `the token was tried with ${proofKeysMax} sets of keys already` };
  }
}

interface TokenClaims {
  readonly issuer: unknown;
  readonly subject: unknown;
  /** Which key signed it. */
  readonly kid: unknown;
}

function readClaims(token: string): TokenClaims | undefined {
  try {
    const { iss: issuer, sub: subject } = decodeJwt(token);
    return { issuer, subject, kid: decodeProtectedHeader(token).kid };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Accounts in which this is equal are proved by the same tokens. @param kid of the key; other keys of a cluster come and go */
function toKeysId({ issuer, subject, keys }: ServiceAccountAuth, kid: unknown): string {
  const wanted = keys.keys?.filter((key) => kid === undefined || key['kid'] === kid);
  return JSON.stringify([issuer, subject, keys.url?.href ?? wanted]);
}

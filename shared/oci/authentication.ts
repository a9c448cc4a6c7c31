import { parseBoundedJson } from '#core/bounded-json.ts';
import type { Clock } from '#core/clock.ts';
import { AccessDeniedError, FailedOperationError } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import { type Challenge, parseChallenge } from './challenge.ts';
import type { BasicCredentials } from './credentials.ts';
import { answerJsonBounds, tokensMax } from './limits.ts';

/** Seconds of validity of a token without a stated one, by the protocol. */
const defaultLifetimeSeconds = 60;

/** Seconds before its end at which a token is not used any more. */
const reserveSeconds = 10;

/** Characters of a token. */
const tokenLengthMax = 16_384;

/** The message for credentials that a registry refuses. */
export const credentialsRefused =
  'the registry answered 401: it refuses the username and password of the account';

/** Calls a token server: returns the status and the text of its answer. */
type AskTokenServer = (
  url: URL,
  authorization: string | undefined,
  signal: AbortSignal,
) => Promise<{ readonly statusCode: number; readonly text: string }>;

/** What authenticating an account's requests needs. */
interface AuthenticationOptions {
  /** Address of the registry. */
  readonly baseUrl: URL;
  readonly credentials: BasicCredentials;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly ask: AskTokenServer;
}

/** A request that was answered 401. */
export interface RefusedRequest {
  /** Scope of the request, in token servers' terms: `repository:shop/cart:pull`. */
  readonly scope: string;
  /** Origin that answered: the registry, or where it redirects to. */
  readonly origin: string;
  /** `WWW-Authenticate` of the answer. */
  readonly header: string;
  /** `Authorization` of the request. */
  readonly sent: string | undefined;
}

interface Token {
  readonly value: string;
  /** Monotonic time, milliseconds. */
  readonly untilMs: number;
}

/**
 * Authenticates requests as the registry requires: not at all before its first 401; then by a password, or by a token for each scope, which
 * is remembered.
 */
export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #tokens = new Map<string, Token>();
  #challenge: Challenge | undefined;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /**
   * The header `Authorization` of a request; undefined where none is known to be required, or the account has no credentials.
   *
   * @param scope of the request, in token servers' terms: `repository:shop/cart:pull`.
   * @throws FailedOperationError when no token can be had.
   */
  async getHeader(scope: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#challenge === undefined) return undefined;
    if (this.#challenge.scheme === 'basic') return this.#getBasic();
    const known = this.#tokens.get(scope);
    if (known !== undefined && known.untilMs > this.#options.clock.monotonic()) return known.value;
    return this.#getToken(this.#challenge, scope, signal);
  }

  /**
   * Handles a refusal: the refused header is not sent again. Only the registry says how to authenticate: a host that it redirects to could
   * name its own token server, and get the password there.
   *
   * @returns what to send now.
   * @throws FailedOperationError when there is nothing else to send, or another host refused; AccessDeniedError when the password would go
   *   to the token server in clear text.
   */
  async replace(refused: RefusedRequest, signal: AbortSignal): Promise<string> {
    const { scope, origin, header, sent } = refused;
    if (origin !== this.#options.baseUrl.origin) {
      throw new FailedOperationError(`the registry redirects to ${origin}, which answered 401`);
    }
    this.#challenge = parseChallenge(header);
    this.#tokens.delete(scope);
    if (this.#challenge === undefined) {
      throw new FailedOperationError('the registry answered 401, and not how to authenticate');
    }
    if (sent !== undefined && this.#challenge.scheme === 'basic') this.#options.credentials.invalidate();
    const next =
      this.#challenge.scheme === 'basic'
        ? await this.#getBasic()
        : await this.#getToken(this.#challenge, scope, signal);
    if (next !== undefined && next !== sent) return next;
    throw new FailedOperationError(
      next === undefined
        ? 'the registry answered 401: it wants a username and a password, and the account has none'
        : credentialsRefused,
    );
  }

  async #getBasic(): Promise<string | undefined> {
    const pair = await this.#options.credentials.get();
    return pair === undefined ? undefined : `Basic ${pair}`;
  }

  async #getToken(
    challenge: Challenge & { scheme: 'bearer' },
    scope: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { baseUrl, clock, ask, credentials } = this.#options;
    const url = URL.parse(challenge.realm, baseUrl.href);
    if (url === null) throw new FailedOperationError('the registry names a token server that is no URL');
    assertRealmAllowed(url, baseUrl);
    if (challenge.service !== undefined) url.searchParams.set('service', challenge.service);
    url.searchParams.set('scope', scope);
    const askedAtMs = clock.monotonic();
    const { statusCode, text } = await ask(url, await this.#getBasic(), signal);
    if (statusCode === 401 || statusCode === 403) credentials.invalidate();
    if (statusCode !== 200) {
      throw new FailedOperationError(`the token server ${url.host} answered ${statusCode}`);
    }
    const { value, lifetimeSeconds } = parseToken(text, url.host);
    const token = `Bearer ${value}`;
    this.#remember(scope, { value: token, untilMs: askedAtMs + (lifetimeSeconds - reserveSeconds) * 1000 });
    return token;
  }

  #remember(scope: string, token: Token): void {
    if (this.#tokens.size >= tokensMax) this.#tokens.clear();
    this.#tokens.set(scope, token);
  }
}

/** With HTTPS a token server may be anywhere, as Docker Hub's is; with HTTP it must be the registry itself, called by HTTP, too. */
function assertRealmAllowed({ protocol, origin, host }: URL, baseUrl: URL): void {
  if (protocol === 'https:' || origin === baseUrl.origin) return;
  throw new AccessDeniedError(
    `the registry names ${protocol}//${host} as its token server: the password of the account may not go there without TLS`,
  );
}

function parseToken(text: string, host: string): { value: string; lifetimeSeconds: number } {
  const answer = readJson(text, host);
  const value = asString(getPath(answer, 'token')) || asString(getPath(answer, 'access_token')) || '';
  if (value.length > tokenLengthMax || !/^[\x21-\x7e]+$/.test(value)) {
    throw new FailedOperationError(`the token server ${host} answered no token`);
  }
  const told = Number(getPath(answer, 'expires_in') ?? Number.NaN);
  return { value, lifetimeSeconds: Number.isFinite(told) ? told : defaultLifetimeSeconds };
}

function readJson(text: string, host: string): unknown {
  try {
    return parseBoundedJson(text, answerJsonBounds).value;
  } catch {
    throw new FailedOperationError(`the token server ${host} answered no JSON`);
  }
}

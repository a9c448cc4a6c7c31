import { createHash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { asJsonArray, asString, type JsonObject } from '#core/json.ts';
import type { Credential, CredentialSource } from './credentials.ts';
import { type JsonAnswer, requestJson, type ServerAccess } from './json-exchange.ts';
import { readTokenExpiry } from './token-expiry.ts';

/** The user of an identity provider, as in the auth-provider `oidc` of a kubeconfig. Holds secrets. */
export interface OidcUser {
  readonly idToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** `idp-issuer-url`. */
  readonly issuer: string | undefined;
}

/** The options of renewing an {@link OidcUser}. */
export interface OidcOptions extends ServerAccess {
  readonly clock: Clock;
}

/** A user whose token can be renewed. */
type RenewableUser = OidcUser & {
  readonly [Field in 'refreshToken' | 'clientId' | 'issuer']: string;
};

/**
 * The current state of one login. An identity provider may accept a refresh token only once, so renewed tokens are shared by all clients of
 * the process.
 */
interface Login {
  idToken: string | undefined;
  refreshToken: string;
  pending: Promise<string> | undefined;
  /** Why it could not be renewed, and until when not to try again. */
  failure: { readonly error: unknown; readonly untilMs: number } | undefined;
}

/** A token that expires within this time is renewed, milliseconds: the same as in `CredentialCache`. */
const renewAheadMs = 60_000;
/** After a failed renewal, the next one waits at least this long. */
const failurePauseMs = 5_000;
/** The most logins that are remembered: more than a machine has accounts. */
export const loginsMax = 1_000;

const logins = new Map<string, Login>();

/**
 * The id-token of a user, renewed at the identity provider (OpenID Connect Core 1.0, section 12) when it expires or when the API server
 * refuses it. If kubectl renews a kubeconfig, the creator of this source reads it again.
 *
 * @throws Error by the source, with what to do and without any token
 */
export function createOidcSource(user: OidcUser, options: OidcOptions): CredentialSource {
  if (!isRenewable(user)) return async () => toLastCredential(user, options.clock);
  const login = findLogin(user);
  let given: string | undefined;
  return async (request) => {
    const newest = chooseLater(login.idToken, user.idToken);
    const isUsable =
      newest !== undefined &&
      !(request?.refused === true && newest === given) &&
      (readTokenExpiry(newest) ?? Number.POSITIVE_INFINITY) - options.clock.now() > renewAheadMs;
    given = isUsable ? newest : await renewOnce(login, user, options);
    return toCredential(given);
  };
}

function isRenewable(user: OidcUser): user is RenewableUser {
  return user.refreshToken !== undefined && user.clientId !== undefined && user.issuer !== undefined;
}

/** The credential of a user whose token cannot be renewed. */
function toLastCredential({ idToken }: OidcUser, clock: Clock): Credential {
  const expiresAtMs = idToken === undefined ? 0 : (readTokenExpiry(idToken) ?? Number.POSITIVE_INFINITY);
  if (idToken !== undefined && clock.now() < expiresAtMs) return toCredential(idToken);
  throw new Error(
    'its id-token has expired, and its kubeconfig lacks refresh-token, client-id or idp-issuer-url to renew it: log in again',
  );
}

function toCredential(token: string): Credential {
  const expiresAtMs = readTokenExpiry(token);
  return { authorization: `Bearer ${token}`, ...(expiresAtMs !== undefined && { expiresAtMs }) };
}

function chooseLater(known: string | undefined, written: string | undefined): string | undefined {
  if (known === undefined || written === undefined) return known ?? written;
  return (readTokenExpiry(written) ?? 0) > (readTokenExpiry(known) ?? 0) ? written : known;
}

function findLogin({ issuer, clientId, refreshToken }: RenewableUser): Login {
  const key = createHash('sha256')
    .update(JSON.stringify([issuer, clientId, refreshToken]))
    .digest('base64');
  const known = logins.get(key);
  if (known !== undefined) return known;
  const login = { idToken: undefined, refreshToken, pending: undefined, failure: undefined };
  const oldest = logins.size < loginsMax ? undefined : logins.keys().next().value;
  if (oldest !== undefined) logins.delete(oldest);
  logins.set(key, login);
  return login;
}

/** A new id-token; simultaneous callers get the same one. */
async function renewOnce(login: Login, user: RenewableUser, options: OidcOptions): Promise<string> {
  const { failure } = login;
  if (failure !== undefined && options.clock.now() < failure.untilMs) throw failure.error;
  login.pending ??= renew(login, user, options).finally(() => {
    login.pending = undefined;
  });
  return await login.pending;
}

async function renew(login: Login, user: RenewableUser, options: OidcOptions): Promise<string> {
  try {
    const metadata = await discover(user.issuer, options);
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: login.refreshToken });
    const authorization = identifyClient(user, metadata, form);
    const tokenEndpoint = parseHttps(
      asString(metadata.token_endpoint),
      'the token_endpoint of its identity provider',
    );
    const answer = await requestJson(tokenEndpoint, options, { form, authorization });
    const idToken = readIdToken(answer, tokenEndpoint);
    login.idToken = idToken;
    login.refreshToken = asString(answer.body.refresh_token) || login.refreshToken;
    login.failure = undefined;
    return idToken;
  } catch (error) {
    login.failure = { error, untilMs: options.clock.now() + failurePauseMs };
    throw error;
  }
}

/** The metadata of an identity provider (OpenID Connect Discovery 1.0, section 4). */
async function discover(issuer: string, options: OidcOptions): Promise<JsonObject> {
  const bare = issuer.replace(/\/$/, '');
  const { origin } = parseHttps(issuer, 'its idp-issuer-url');
  const { status, body } = await requestJson(new URL(`${bare}/.well-known/openid-configuration`), options);
  if (status === 200 && asString(body.issuer)?.replace(/\/$/, '') === bare) return body;
  const problem = status === 200 ? 'its answer names another issuer' : `it answers ${status}`;
  throw new Error(`its identity provider ${origin} tells nothing of itself: ${problem}`);
}

/** Identifies the client to the token endpoint: in the form, or by the returned Authorization header (RFC 6749, section 2.3.1). */
function identifyClient(
  { clientId, clientSecret }: RenewableUser,
  metadata: JsonObject,
  form: URLSearchParams,
): string | undefined {
  const methods = asJsonArray(metadata.token_endpoint_auth_methods_supported);
  const isPosted = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  if (clientSecret !== undefined && !isPosted) {
    const pair = [clientId, clientSecret].map((text) =>
      new URLSearchParams({ '': text }).toString().slice(1),
    );
    return `Basic ${Buffer.from(pair.join(':')).toString('base64')}`;
  }
  form.set('client_id', clientId);
  if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  return undefined;
}

/** @throws Error with OAuth's code for a refusal: its description may quote what was sent. */
function readIdToken({ status, body }: JsonAnswer, { origin }: URL): string {
  const idToken = asString(body.id_token);
  if (status === 200 && idToken) return idToken;
  if (status === 200) {
    throw new Error(`its identity provider ${origin} gave no id_token: log in again with the scope openid`);
  }
  const code = /^[a-z_]{1,40}$/.exec(asString(body.error) ?? '')?.[0] ?? `status ${status}`;
  throw new Error(`its identity provider ${origin} does not renew its id-token (${code}): log in again`);
}

function parseHttps(text: string | undefined, what: string): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return url;
  throw new Error(`${what} is no https URL`);
}

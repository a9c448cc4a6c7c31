import { sign } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { FailedOperationError, getErrorMessage, NotFoundError } from '#core/errors.ts';
import { asJsonObject, asString, type JsonObject } from '#core/json.ts';
import type { Aws } from '#platform/ports/aws.ts';
import type { CredentialHeaders, Downloader, DownloadRequest } from './download/downloader.ts';
import { readJsonBody } from './download/response-body.ts';
import type { FederatedKey, GcsKey, ServiceAccountKey, UserKey } from './gcs-key.ts';

/** Google accepts tokens for an hour; the clocks of both sides may differ by a minute. */
const tokenLifetimeS = 3_540;
const clockSkewS = 60;

/** A token from Google is replaced this long before its expiry. */
const refreshAheadMs = 5 * 60_000;

/** A refused token is still used again if it is no older than this: another one would be refused, too. */
const refusalPauseMs = 10_000;

/** The longest lifetime accepted for a token, in seconds: Google's own limit is 12 hours. */
const givenLifetimeMaxS = 12 * 3_600;

const readOnlyScope = 'https://www.googleapis.com/auth/devstorage.read_only';
/** The scope of a token that is exchanged for another one. */
const exchangeScope = 'https://www.googleapis.com/auth/cloud-platform';

/** Largest answer with a token, in bytes. It has a few thousand. */
export const gcsTokenAnswerBytesMax = 2 ** 16;

/** The longest accepted token from Google, in characters: Google's own limit for workloads is 12,288. It goes into a header. */
export const gcsTokenLengthMax = 12_288;

interface GcsTokenOptions {
  /** The account's downloader, whose restrictions also apply to the issuers of tokens. */
  readonly downloader: Downloader;
  readonly clock: Clock;
  /** The beginning of messages. */
  readonly context: string;
  /** Opens AWS, whose STS identifies this process. Undefined if it cannot. */
  readonly openAws: (() => Promise<Aws>) | undefined;
}

/**
 * Makes the header with a token for reading Google Cloud Storage. A token from Google is remembered until shortly before its expiry, and
 * callers that need the same one share one request.
 *
 * @param isRefused whether the last one was refused: then another one is requested, unless that one is brand-new.
 * @throws FailedOperationError naming the account if Google returns none, and what the download throws.
 */
export type MakeGcsHeader = (key: GcsKey, isRefused: boolean) => Promise<CredentialHeaders>;

interface GivenToken {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** Tokens of one account. */
export function createGcsTokens(options: GcsTokenOptions): MakeGcsHeader {
  const { clock } = options;
  let known:
    | { readonly key: GcsKey; readonly token: Promise<GivenToken>; readonly askedAtMs: number }
    | undefined;

  function start(key: UserKey | FederatedKey): Promise<GivenToken> {
    const token = key.kind === 'user' ? refresh(key, options) : federate(key, options);
    const entry = { key, token, askedAtMs: clock.now() };
    known = entry;
    token.catch(() => {
      if (known === entry) known = undefined;
    });
    return token;
  }

  return async (key, isRefused) => {
    if (key.kind === 'serviceAccount') return toHeader(signToken(key, clock));
    const isSuspect = isRefused && clock.now() - (known?.askedAtMs ?? 0) >= refusalPauseMs;
    if (isSuspect || known?.key !== key) return toHeader((await start(key)).value);
    const token = await known.token;
    const isFresh = token.expiresAtMs - refreshAheadMs > clock.now();
    return toHeader((isFresh ? token : await start(key)).value);
  };
}

function toHeader(token: string): CredentialHeaders {
  return { authorization: `Bearer ${token}` };
}

/**
 * A JSON Web Token with the service account and the requested access, signed with RS256. Google's services accept it in place of their own
 * (https://google.aip.dev/auth/4111).
 */
function signToken({ email, keyId, privateKey }: ServiceAccountKey, clock: Clock): string {
  const issuedAtS = Math.floor(clock.now() / 1000) - clockSkewS;
  const claims = {
    ...{ iss: email, sub: email, scope: readOnlyScope },
    ...{ iat: issuedAtS, exp: issuedAtS + tokenLifetimeS },
  };
  const content = [{ alg: 'RS256', typ: 'JWT', ...(keyId && { kid: keyId }) }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
}

async function refresh(key: UserKey, options: GcsTokenOptions): Promise<GivenToken> {
  const answer = await ask(options, {
    url: key.tokenUrl,
    body: toForm({
      grant_type: 'refresh_token',
      client_id: key.clientId,
      client_secret: key.clientSecret,
      refresh_token: key.refreshToken,
    }),
  });
  return readGivenToken(answer, key.tokenUrl, options);
}

/** Exchanges a request that identifies this process for a token, and that for a service account's, if there is one. */
async function federate(key: FederatedKey, options: GcsTokenOptions): Promise<GivenToken> {
  const { audience, tokenUrl, impersonationUrl } = key;
  const answer = await ask(options, {
    url: tokenUrl,
    body: toForm({
      audience,
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: impersonationUrl ? exchangeScope : readOnlyScope,
      subject_token: await makeSubjectToken(audience, options),
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
    }),
  });
  const token = readGivenToken(answer, tokenUrl, options);
  return impersonationUrl === undefined ? token : impersonate(impersonationUrl, token, options);
}

/** A signed GetCallerIdentity, in the form of https://docs.cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token for AWS. */
async function makeSubjectToken(audience: string, { context, openAws }: GcsTokenOptions): Promise<string> {
  if (openAws === undefined)
    throw new FailedOperationError(`${context}: this process has no identity of AWS`);
  const { url, headers } = await openAws()
    .then((aws) => signCallerIdentity(aws, { 'x-goog-cloud-target-resource': audience }))
    .catch((cause: unknown) => {
      throw new FailedOperationError(`${context}: ${getErrorMessage(cause)}`, { cause });
    });
  const list = Object.entries(headers).map(([key, value]) => ({ key, value }));
  return encodeURIComponent(JSON.stringify({ url, method: 'POST', headers: list }));
}

/**
 * A request, to be sent by POST without a body, by which another party learns the IAM identity of this process. It is for AWS' own
 * endpoint of the region, whatever endpoints this process has for itself (VPC, FIPS): its sender knows no other.
 *
 * @param headers are signed, too: one that names the recipient makes the request useless to others.
 */
export async function signCallerIdentity(aws: Aws, headers: Readonly<Record<string, string>>) {
  const region = await aws.getRegion();
  const { host } = new URL(aws.getEndpoint('sts', region, { isPublic: true }));
  const url = `https://${host}?Action=GetCallerIdentity&Version=2011-06-15`;
  const credentials = await aws.credentials({ region })();
  const request = { service: 'sts', method: 'POST', url: new URL(url), headers };
  return { url, headers: { ...(await aws.sign(request, { region, credentials })), host } };
}

async function impersonate(url: URL, { value }: GivenToken, options: GcsTokenOptions): Promise<GivenToken> {
  const text = JSON.stringify({ scope: [readOnlyScope], lifetime: '3600s' });
  const answer = await ask(options, {
    ...{ url, credentials: toHeader(value) },
    body: { mediaType: 'application/json', text },
  });
  const endsAtMs = Date.parse((asString(answer['expireTime']) ?? '').slice(0, timestampLengthMax));
  const expires_in = Math.floor((endsAtMs - options.clock.now()) / 1000);
  return readGivenToken({ access_token: answer['accessToken'] ?? '', expires_in }, url, options);
}

/** `2026-01-01T01:00:00.000000000Z`. */
const timestampLengthMax = 32;

function toForm(fields: Readonly<Record<string, string>>): NonNullable<DownloadRequest['body']> {
  return {
    mediaType: 'application/x-www-form-urlencoded',
    text: new URLSearchParams(fields).toString(),
  };
}

/** Sends a request for a token, within the downloader's time-outs. */
async function ask(
  { downloader, context }: GcsTokenOptions,
  request: Omit<DownloadRequest, 'method' | 'accept'>,
): Promise<JsonObject> {
  try {
    // A separate signal: the token is for all waiting callers, not only for the first one.
    const body = await downloader.download(
      { ...request, method: 'POST', accept: 'application/json' },
      new AbortController().signal,
    );
    return asJsonObject(await readJsonBody(body, gcsTokenAnswerBytesMax)) ?? {};
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new FailedOperationError(`${context}: ${request.url.host} has nothing that gives tokens there`, {
      cause: error,
    });
  }
}

function readGivenToken(answer: JsonObject, { host }: URL, { clock, context }: GcsTokenOptions): GivenToken {
  const value = asString(answer['access_token']) ?? '';
  const lifetimeS = Number(answer['expires_in'] ?? 3_600);
  const isToken = value.length <= gcsTokenLengthMax && /^[\x21-\x7e]+$/.test(value);
  if (!isToken || !Number.isFinite(lifetimeS)) {
    throw new FailedOperationError(`${context}: ${host} gave no token`);
  }
  return { value, expiresAtMs: clock.now() + Math.min(lifetimeS, givenLifetimeMaxS) * 1000 };
}

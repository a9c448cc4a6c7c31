import { createHash } from 'node:crypto';
import { Breaker } from '#core/breaker.ts';
import type { Clock } from '#core/clock.ts';
import { asString } from '#core/json.ts';
import type { CredentialSource } from './credentials.ts';
import { requestJson } from './json-exchange.ts';
import { readTokenExpiry } from './token-expiry.ts';

/** A token broker with Arcade's API, and how to call it. */
export interface TokenBroker {
  /** Its name in the settings, for errors. */
  readonly name: string;
  readonly url: URL;
  /** Value of its header `Api-Key`. Secret. @param isDoubted whether the broker refused the last returned key */
  readonly getApiKey: (isDoubted: boolean) => Promise<string>;
  /** Time limit of one call, milliseconds. */
  readonly timeoutMs: number;
  /** How long a token without an expiry is used. */
  readonly maxAgeSeconds: number;
}

/** The options for calling brokers. */
export interface BrokerOptions {
  readonly clock: Clock;
  /** May name a proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The most bytes of a broker's answer: a token has some kilobytes. */
export const brokerAnswerBytesMax = 64 * 2 ** 10;
/** Tokens that a process remembers, one for each broker, key and provider. */
export const brokerTokensMax = 256;
/** After three failures in a row a broker is not called for this long, milliseconds. */
const breakerOpenMs = 5_000;
/** A token is not used for the last part of its life, milliseconds. */
const spareMs = 60_000;
/**
 * Refused tokens are replaced no more often than this, milliseconds: a cluster that accepts none must not cause a call of the broker with
 * each request.
 */
const refusalPauseMs = 10_000;

/** A broker's token for one provider. */
interface Slot {
  readonly breaker: Breaker;
  token: BrokerToken | undefined;
  pending: Promise<BrokerToken> | undefined;
  /** When a refused token was last replaced, wall time in milliseconds. */
  replacedAtMs: number;
}

interface BrokerToken {
  readonly text: string;
  /** Wall time in milliseconds. */
  readonly expiresAtMs: number;
}

/** The broker refused the API key. */
class ApiKeyError extends Error {}

const slots = new Map<string, Slot>();

/**
 * A source of bearer tokens from a broker, for a provider. All accounts of the process with the same broker, key and provider share one
 * token and one call.
 *
 * @param provider name of the broker's token provider, such as `google`
 * @throws Error by the source; it names the broker and its status, and quotes nothing of what was sent or answered.
 */
export function createBrokerSource(
  broker: TokenBroker,
  provider: string,
  options: BrokerOptions,
): CredentialSource {
  let given: string | undefined;
  return async (request) => {
    const refused = request?.refused === true ? given : undefined;
    const { text, expiresAtMs } = await withApiKey(broker, (apiKey) =>
      takeToken({ broker, provider, apiKey, refused }, options),
    );
    given = text;
    const advice = `let the cluster accept what the token broker "${broker.name}" gives, or name another tokenProvider`;
    return { authorization: `Bearer ${text}`, expiresAtMs, advice };
  };
}

/** Makes a call with the key, and once more with a newer one if the broker refuses it. */
async function withApiKey<T>(broker: TokenBroker, call: (apiKey: string) => Promise<T>): Promise<T> {
  const apiKey = await broker.getApiKey(false);
  try {
    return await call(apiKey);
  } catch (error) {
    if (!(error instanceof ApiKeyError)) throw error;
    const newer = await broker.getApiKey(true);
    if (newer === apiKey) throw error;
    return call(newer);
  }
}

interface TokenQuestion {
  readonly broker: TokenBroker;
  readonly provider: string;
  readonly apiKey: string;
  /** The token that an API server refused. */
  readonly refused: string | undefined;
}

/** The known token, or a new one from the broker; simultaneous callers get the same one. */
async function takeToken(question: TokenQuestion, options: BrokerOptions): Promise<BrokerToken> {
  const slot = findSlot(question, options);
  const now = options.clock.now();
  const { token } = slot;
  const isRefused = token !== undefined && token.text === question.refused;
  const mayReplace = Math.abs(now - slot.replacedAtMs) >= refusalPauseMs;
  if (token !== undefined && now < token.expiresAtMs && !(isRefused && mayReplace)) return token;
  if (isRefused) slot.replacedAtMs = now;
  slot.pending ??= slot.breaker
    .run(() => askBroker(question, options))
    .then((fresh) => {
      slot.token = fresh;
      return fresh;
    })
    .finally(() => {
      slot.pending = undefined;
    });
  return await slot.pending;
}

function findSlot({ broker, provider, apiKey }: TokenQuestion, { clock }: BrokerOptions): Slot {
  const key = createHash('sha256')
    .update(JSON.stringify([broker.url.href, apiKey, provider]))
    .digest('base64');
  const subject = `token broker "${broker.name}"`;
  const slot = slots.get(key) ?? {
    breaker: new Breaker({ clock, subject, openMs: breakerOpenMs }),
    token: undefined,
    pending: undefined,
    replacedAtMs: Number.NEGATIVE_INFINITY,
  };
  // Keeps the most recently used slot last.
  slots.delete(key);
  const oldest = slots.size < brokerTokensMax ? undefined : slots.keys().next().value;
  if (oldest !== undefined) slots.delete(oldest);
  slots.set(key, slot);
  return slot;
}

/** `GET /tokens?provider=…`, as in Arcade. */
async function askBroker(
  { broker, provider, apiKey }: TokenQuestion,
  { clock, environment }: BrokerOptions,
): Promise<BrokerToken> {
  const { name, timeoutMs, maxAgeSeconds } = broker;
  const url = new URL(broker.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/tokens`;
  url.searchParams.set('provider', provider);
  const what = `token broker "${name}"`;
  const { status, body } = await requestJson(url, {
    ca: undefined,
    environment,
    timeoutMs,
    bytesMax: brokerAnswerBytesMax,
    headers: { 'api-key': toHeaderText(apiKey, what) },
  }).catch((error: Error) => {
    throw new Error(`${what}: ${error.message}`);
  });
  const token = status >= 200 && status < 400 ? asString(body.token) : undefined;
  if (token) return { text: token, expiresAtMs: getExpiry(token, clock.now(), maxAgeSeconds) };
  if (status === 403) {
    throw new ApiKeyError(`${what} answers 403: check its API key, busdriver.tokenBrokers.${name}.apiKey`);
  }
  if (status === 400) {
    throw new Error(`${what} answers 400: check that it knows the account's tokenProvider`);
  }
  throw new Error(status < 400 ? `${what} answers ${status} without a token` : `${what} answers ${status}`);
}

/** @throws Error for a key that is invalid in a header: Node's own message might quote it. */
function toHeaderText(apiKey: string, what: string): string {
  if (/^[\x21-\x7e]*$/.test(apiKey)) return apiKey;
  throw new Error(`the API key of ${what} has blanks, line breaks or letters beyond ASCII`);
}

/** A token with a short life is used for half of its remaining time. */
function getExpiry(token: string, now: number, maxAgeSeconds: number): number {
  const expiry = readTokenExpiry(token);
  if (expiry === undefined) return now + maxAgeSeconds * 1000;
  return Math.max(expiry - spareMs, now + (expiry - now) / 2);
}

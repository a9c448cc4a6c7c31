import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage, UnavailableError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { HttpClient } from '#provider-kit/http-client/http-client.ts';
import { checkAnswer, parseAnswer } from '#provider-kit/http-client/service-client.ts';
import { type KeySource, type PublicKey, readKeys } from './identity-settings.ts';
import { listThumbprints } from './key-thumbprint.ts';

/** Milliseconds for which a fetched set of keys is used without looking for a newer one. */
export const keysFreshMs = 10 * 60_000;

/** Milliseconds for which it may be used while a newer one cannot be fetched. */
export const keysUsableMs = 60 * 60_000;

/** Milliseconds between two fetches of keys at least, also for a token whose key is unknown, unless `pauseMs` is given. */
export const keysPauseMs = 30_000;

/** Milliseconds for one fetch. */
export const keysTimeoutMs = 5_000;

/** Bytes of a set of keys. */
export const keysBytesMax = 256 * 2 ** 10;

interface KeySetOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Milliseconds between two tries to fetch keys at least. Default {@link keysPauseMs}. */
  readonly pauseMs?: number;
}

/** Keys that verify signatures. */
export interface KeySet {
  /** A function that finds the key of a token among those known now. @throws UnavailableError when none could be fetched. */
  getKeys(): Promise<JWTVerifyGetKey>;
  /** The same with keys fetched since, once in `pauseMs` at most, for a token whose key is unknown. Undefined when none are newer. */
  findNewerKeys(): Promise<JWTVerifyGetKey | undefined>;
  /** Whether a key has this thumbprint (RFC 7638), after a look at newer ones. @throws UnavailableError when none could be fetched */
  hasKey(thumbprint: string): Promise<boolean>;
}

/** Keys of the settings, or those at a URL: fetched when they are first needed, and again from time to time. */
export function openKeySet(source: KeySource, options: KeySetOptions): KeySet {
  if (source.url !== undefined) return new FetchedKeySet(source.url, options);
  const keys = toFinder(source.keys);
  let thumbprints: ReadonlySet<string> | undefined;
  return {
    getKeys: async () => keys,
    findNewerKeys: async () => undefined,
    async hasKey(thumbprint) {
      thumbprints ??= listThumbprints(source.keys);
      return thumbprints.has(thumbprint);
    },
  };
}

/** The algorithm is checked where a signature is verified; jose knows which form of key it needs. */
function toFinder(keys: readonly PublicKey[]): JWTVerifyGetKey {
  return createLocalJWKSet({ keys: [...keys] } as unknown as JSONWebKeySet);
}

interface FetchedKeys {
  readonly keys: readonly PublicKey[];
  readonly find: JWTVerifyGetKey;
  readonly atMs: number;
}

class FetchedKeySet implements KeySet {
  readonly #url: URL;
  readonly #options: KeySetOptions;
  #keys: FetchedKeys | undefined;
  #fetching: Promise<void> | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #failure: unknown;

  constructor(url: URL, options: KeySetOptions) {
    this.#url = url;
    this.#options = options;
  }

  async getKeys(): Promise<JWTVerifyGetKey> {
    if (this.#getAge(this.#keys?.atMs) >= keysFreshMs) await this.#fetch();
    if (this.#keys !== undefined && this.#getAge(this.#keys.atMs) < keysUsableMs) return this.#keys.find;
    throw new UnavailableError(
      `The keys of ${this.#url.origin}, by which callers are known, cannot be had: ${getErrorMessage(this.#failure)}`,
      { cause: this.#failure },
    );
  }

  async findNewerKeys(): Promise<JWTVerifyGetKey | undefined> {
    const before = this.#keys;
    await this.#fetch();
    return this.#keys === before ? undefined : this.#keys?.find;
  }

  async hasKey(thumbprint: string): Promise<boolean> {
    const isKnown = (): boolean => listThumbprints(this.#keys?.keys ?? []).has(thumbprint);
    await this.getKeys();
    if (isKnown()) return true;
    await this.findNewerKeys();
    return isKnown();
  }

  /** Fetches the keys, unless it tried a moment ago. Never rejects. */
  async #fetch(): Promise<void> {
    const { pauseMs = keysPauseMs } = this.#options;
    if (this.#fetching === undefined && this.#getAge(this.#triedAtMs) < pauseMs) return;
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
    });
    await this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    this.#triedAtMs = this.#options.clock.now();
    try {
      const keys = readKeys(await fetchJson(this.#url), 'its answer');
      this.#keys = { keys, find: toFinder(keys), atMs: this.#options.clock.now() };
    } catch (error) {
      this.#failure = error;
      const reason = getErrorMessage(error);
      this.#options.log.warn('the keys by which callers are known cannot be fetched', { reason });
    }
  }

  /** By wall time: Lambda freezes a process between invocations, and its monotonic clock with it. */
  #getAge(sinceMs: number = Number.NEGATIVE_INFINITY): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }
}

/** @throws Error with the reason, and nothing of the answer. */
async function fetchJson(url: URL): Promise<JsonValue> {
  await using client = new HttpClient({ connections: 1 });
  const signal = AbortSignal.timeout(keysTimeoutMs);
  const headers = { accept: 'application/jwk-set+json, application/json', 'user-agent': 'busdriver' };
  const answer = await client
    .send({ url, headers, signal, bytesMax: keysBytesMax })
    .catch((error: unknown) => {
      throw new Error(signal.aborted ? `no answer within ${keysTimeoutMs} ms` : getErrorMessage(error));
    });
  return parseAnswer(checkAnswer(answer, keysBytesMax));
}

import { retry } from '#core/back-off.ts';
import { type JsonBounds, JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage, UnavailableError } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { RefusedError, readServiceAnswer, type ServiceAnswer } from '#core/service-answer.ts';
import type { ConnectionPool, PoolTimeouts } from './connection-pool.ts';

/** Limits of a request to Front50. */
interface ClientLimits extends PoolTimeouts {
  /** Milliseconds for an answer, including retries. */
  readonly totalMs: number;
  /** Largest answer. */
  readonly bytesMax: number;
}

/**
 * Largest answer of Front50, bytes: 16,000 applications or projects of 2 KB. It comes uncompressed, since nothing else is requested.
 * Parsing it blocks the process for about 0.2 s.
 */
export const front50BytesMax = 32 * 2 ** 20;

/** Nesting and number of values of Front50's answers: 16,000 applications have 30 values each. */
export const front50JsonBounds: JsonBounds = { depthMax: 128, valuesMax: 750_000 };

/** Reads end within 20 seconds: a page must be complete even if Front50 does not answer. */
const defaultLimits: ClientLimits = {
  connectMs: 2_000,
  headersMs: 5_000,
  bodyMs: 5_000,
  totalMs: 8_000,
  bytesMax: front50BytesMax,
};

const triesMax = 3;
const backOff = { firstMs: 200 };

interface Front50ClientOptions {
  /** With a slash at its end. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly limits?: Partial<ClientLimits>;
}

/** Asks Front50. */
export interface Front50Client extends AsyncDisposable {
  /** The JSON at a path below the base URL. @throws UnavailableError with the reason if Front50 did not answer. */
  getJson(path: string): Promise<JsonValue>;
  /**
   * The text of the JSON object at a path below the base URL, as Front50 sent it: its numbers stay as they are. Undefined if Front50 has
   * none there.
   *
   * @throws UnavailableError with the reason if Front50 did not answer; the signal's reason once that is aborted.
   */
  findObjectText(path: string, signal: AbortSignal): Promise<string | undefined>;
}

/** An answer, and what it says. */
interface JsonAnswer {
  readonly text: string;
  readonly value: JsonValue;
}

/** A client, which connects on first use. Failures are retried soon, at most twice. */
export function createFront50Client(options: Front50ClientOptions): Front50Client {
  const { baseUrl, clock, randomness } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let starting: Promise<ConnectionPool> | undefined;

  async function ask(url: URL, signal: AbortSignal): Promise<JsonAnswer> {
    // Loaded late: all functions with accounts open the catalog, and few use it.
    starting ??= import('./connection-pool.ts').then((pool) => pool.startConnectionPool(limits));
    return await readJson(await (await starting).get(url, signal), limits.bytesMax);
  }

  function askAgain(url: URL, signal: AbortSignal): Promise<JsonAnswer> {
    const isRetryable = (error: unknown): boolean => !(error instanceof RefusedError) || error.isRetryable;
    return retry({ backOff, triesMax, clock, randomness, signal, isRetryable }, () => ask(url, signal));
  }

  /** @throws UnavailableError, or the caller's reason to stop */
  async function askInTime(path: string, stop?: AbortSignal): Promise<JsonAnswer> {
    const timeout = AbortSignal.timeout(limits.totalMs);
    const signal = stop === undefined ? timeout : AbortSignal.any([stop, timeout]);
    try {
      return await askAgain(new URL(path, baseUrl), signal);
    } catch (error) {
      stop?.throwIfAborted();
      const reason = signal.aborted ? `no answer within ${limits.totalMs} ms` : getErrorMessage(error);
      throw new UnavailableError(`Front50 (${baseUrl.origin}) cannot be asked: ${reason}`, { cause: error });
    }
  }

  return {
    getJson: async (path) => (await askInTime(path)).value,
    async findObjectText(path, stop) {
      try {
        const { text, value } = await askInTime(path, stop);
        if (isJsonObject(value)) return text;
      } catch (error) {
        if (error instanceof UnavailableError && isMissing(error.cause)) return undefined;
        throw error;
      }
      throw new UnavailableError(`Front50 (${baseUrl.origin}) cannot be asked: its answer is no object`);
    },
    async [Symbol.asyncDispose]() {
      await (await starting)?.[Symbol.asyncDispose]();
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof RefusedError && error.statusCode === 404;
}

async function readJson(answer: ServiceAnswer, bytesMax: number): Promise<JsonAnswer> {
  const text = new TextDecoder().decode(await readServiceAnswer(answer, bytesMax));
  try {
    return { text, value: parseBoundedJson(text, front50JsonBounds).value };
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new RefusedError(`its answer ${error.message}`, false);
    throw new RefusedError('its answer is not JSON', true);
  }
}

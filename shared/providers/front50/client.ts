import { type JsonBounds, JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import { UnavailableError } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import {
  findStatus,
  RefusedError,
  ServiceClient,
  type ServiceOptions,
} from '#provider-kit/http-client/service-client.ts';

type ClientLimits = Required<Pick<ServiceOptions, 'connectMs' | 'silenceMs' | 'totalMs' | 'bytesMax'>>;

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
  silenceMs: 5_000,
  totalMs: 8_000,
  bytesMax: front50BytesMax,
};

interface Front50ClientOptions extends Pick<ServiceOptions, 'baseUrl' | 'clock' | 'randomness'> {
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
export function createFront50Client({ limits, ...parts }: Front50ClientOptions): Front50Client {
  const { origin } = parts.baseUrl;
  const service = new ServiceClient({
    ...{ name: 'Front50', connections: 4, ...parts, ...defaultLimits, ...limits },
    ...{ backOff: { firstMs: 200 }, triesMax: 3 },
  });
  return {
    getJson: async (path) => (await service.ask({ path, read: readJson })).value,
    async findObjectText(path, signal) {
      try {
        const { text, value } = await service.ask({ path, signal, read: readJson });
        if (isJsonObject(value)) return text;
      } catch (error) {
        if (findStatus(error) === 404) return undefined;
        throw error;
      }
      throw new UnavailableError(`Front50 (${origin}) cannot be asked: its answer is no object`);
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

function readJson(bytes: Uint8Array): JsonAnswer {
  const text = new TextDecoder().decode(bytes);
  try {
    return { text, value: parseBoundedJson(text, front50JsonBounds).value };
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new RefusedError(`its answer ${error.message}`, false);
    throw new RefusedError('its answer is not JSON', true);
  }
}

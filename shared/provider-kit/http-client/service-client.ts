import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage, UnavailableError, VisibleError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import { type HttpAnswer, HttpClient, type HttpOptions } from './http-client.ts';

/** An answer of no use. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  /** Whether another try may help. */
  readonly isRetryable: boolean;
  /** Its status, where that is the reason. */
  readonly status: number | undefined;

  constructor(message: string, isRetryable: boolean, status?: number) {
    super(message);
    this.isRetryable = isRetryable;
    this.status = status;
  }
}

/** How to ask a service. */
export interface ServiceOptions extends HttpOptions {
  /** For messages, such as `Fiat`. */
  readonly name: string;
  /** With a slash at its end. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Milliseconds for an answer, retries included. */
  readonly totalMs: number;
  /** Milliseconds for one try, from connecting to the last byte. Default: `totalMs`. */
  readonly tryMs?: number;
  /** The most bytes of an answer. */
  readonly bytesMax: number;
  readonly backOff: BackOff;
  readonly triesMax: number;
}

/** What to ask. */
export interface ServiceRequest<T> {
  /** Below the base URL. */
  readonly path: string;
  /** Names in lower case. Default: none but those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether one try is enough. Default false. */
  readonly isOnce?: boolean;
  /** Reads an answer with status 200. @throws RefusedError where another try may help; a VisibleError where none does */
  read(bytes: Uint8Array): T;
}

/** Asks one of Spinnaker's services for JSON. Lost connections, time-outs and statuses of temporary failures are retried. */
export class ServiceClient implements AsyncDisposable {
  readonly #options: ServiceOptions;
  readonly #http: HttpClient;

  /** It connects on first use. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#http = new HttpClient(options);
  }

  /**
   * Asks until there is an answer.
   *
   * @throws UnavailableError naming the service and the reason, which quotes nothing of an answer: its cause is a RefusedError with the
   *   status of one that is not 200; the signal's reason
   */
  async ask<T>(request: ServiceRequest<T>): Promise<T> {
    const { name, baseUrl, clock, randomness, totalMs, backOff, triesMax } = this.#options;
    const over = AbortSignal.timeout(totalMs);
    const signal = request.signal === undefined ? over : AbortSignal.any([request.signal, over]);
    const untilMs = clock.monotonic() + totalMs;
    const again = { backOff, triesMax: request.isOnce ? 1 : triesMax, clock, randomness, signal };
    const isRetryable = (error: unknown, pauseMs: number): boolean =>
      (error instanceof RefusedError ? error.isRetryable : !(error instanceof VisibleError)) &&
      clock.monotonic() + pauseMs < untilMs;
    try {
      return await retry({ ...again, isRetryable }, () => this.#askOnce(request, signal));
    } catch (error) {
      request.signal?.throwIfAborted();
      const reason = over.aborted ? `no answer within ${totalMs} ms` : getErrorMessage(error);
      throw new UnavailableError(`${name} (${baseUrl.origin}) cannot be asked: ${reason}`, { cause: error });
    }
  }

  async #askOnce<T>({ path, headers, read }: ServiceRequest<T>, signal: AbortSignal): Promise<T> {
    const { baseUrl, tryMs, totalMs, bytesMax } = this.#options;
    const tooLong = AbortSignal.timeout(tryMs ?? totalMs);
    const request = {
      url: new URL(path, baseUrl),
      headers: { accept: 'application/json', 'user-agent': 'busdriver', ...headers },
      signal: AbortSignal.any([signal, tooLong]),
      bytesMax,
      isWanted: (status: number) => status === 200,
    };
    const answer = await this.#http.send(request).catch((error: unknown) => {
      const isTooLong = tooLong.aborted && !signal.aborted;
      throw isTooLong ? new RefusedError(`no answer within ${tryMs ?? totalMs} ms`, true) : error;
    });
    return read(checkAnswer(answer, bytesMax));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }
}

/** The bytes of an answer. @throws RefusedError for another status than 200, and for more than `bytesMax` */
export function checkAnswer({ status, bytes }: HttpAnswer, bytesMax: number): Uint8Array {
  if (status !== 200) {
    const isRetryable = status >= 500 || status === 429 || status === 408;
    throw new RefusedError(`it answered ${status}`, isRetryable, status);
  }
  if (bytes !== undefined) return bytes;
  throw new RefusedError(`its answer is larger than ${bytesMax} bytes`, false);
}

/** The JSON in an answer. @throws RefusedError for something else, which another try would not change */
export function parseAnswer(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
  } catch {
    throw new RefusedError('its answer is not JSON', false);
  }
}

/** The status because of which a service could not be asked; undefined for any other reason. @param error what `ServiceClient.ask` threw */
export function findStatus(error: unknown): number | undefined {
  const cause = error instanceof UnavailableError ? error.cause : undefined;
  return cause instanceof RefusedError ? cause.status : undefined;
}

import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parseExactJson } from '#core/bounded-json.ts';
import type { Clock } from '#core/clock.ts';
import { FailedOperationError, VisibleError } from '#core/errors.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import type { JsonValue } from '#core/json.ts';
import { isShallowJson, jsonDepthMax } from './json-depth.ts';

/** The largest headers of an answer, without the status line, in bytes: Node's default limit, whatever the process' options. */
export const answerHeadersBytesMax = 16 * 1024;

/**
 * The lowest average rate of a host, in bytes a second of waiting for it: a slower answer is not worth a connection. Less than any network
 * in use.
 */
export const bytesPerSecondMin = 1_024;

/** How long a host may be slower than that, in milliseconds. */
export const slownessMaxMs = 30_000;

/** The options of reading a body. */
export interface ResponseBodyOptions {
  /** The sender, for messages. */
  readonly host: string;
  /** Most bytes to accept, counted after decompression. */
  readonly bytesMax: number;
  /** Longest time that the caller may take between two pieces, in milliseconds. */
  readonly callerTimeoutMs: number;
  /** Measures how long the host takes. */
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The `Content-Encoding` header, if any. Only gzip was requested. */
  readonly contentEncoding: string | undefined;
  /** The `Content-Length` header, if any. */
  readonly contentLength: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The bytes of a body as they arrive, decompressed; nothing is read ahead of the caller except what the sockets buffer. Iterate it or abort
 * the signal: otherwise the connection stays open.
 *
 * @throws FailedOperationError if the body is announced as larger than `bytesMax` or in an unknown encoding. While iterating:
 *   FailedOperationError if it turns out larger, the connection fails, the host is too slow (`bytesPerSecondMin`) or the caller pauses too
 *   long; the signal's reason once that is aborted.
 */
export function readResponseBody(body: Readable, options: ResponseBodyOptions): AsyncIterable<Uint8Array> {
  if (Number(options.contentLength ?? 0) > options.bytesMax) {
    body.destroy();
    throw tooLarge(options);
  }
  return limitBody(decodeBody(body, options), options);
}

async function* limitBody(body: Readable, options: ResponseBodyOptions) {
  const { bytesMax, callerTimeoutMs, host, signal } = options;
  const assertSpeed = createSpeedCheck(options);
  let received = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      received += chunk.byteLength;
      if (received > bytesMax) throw tooLarge(options);
      const resume = assertSpeed(received);
      const pause = setTimeout(() => body.destroy(callerGone(options)), callerTimeoutMs);
      try {
        yield chunk;
      } finally {
        clearTimeout(pause);
      }
      resume();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw toDownloadError(error, host);
  }
}

/** Watches how long the host takes. Call the returned function when waiting resumes: the caller's pauses do not count. */
function createSpeedCheck({ clock, host }: ResponseBodyOptions): (received: number) => () => void {
  let waitedMs = 0;
  let waitingSinceMs = clock.monotonic();
  return (received) => {
    waitedMs += clock.monotonic() - waitingSinceMs;
    if (waitedMs > slownessMaxMs && received < (waitedMs / 1_000) * bytesPerSecondMin) {
      throw new FailedOperationError(
        `${host} answers too slowly: less than ${bytesPerSecondMin} bytes a second`,
      );
    }
    return () => {
      waitingSinceMs = clock.monotonic();
    };
  };
}

function tooLarge({ bytesMax, host }: ResponseBodyOptions): FailedOperationError {
  return new FailedOperationError(`The answer of ${host} is larger than the limit of ${bytesMax} bytes`);
}

function callerGone({ callerTimeoutMs, host }: ResponseBodyOptions): FailedOperationError {
  return new FailedOperationError(
    `The answer of ${host} was given up: its reader took nothing for ${callerTimeoutMs} ms`,
  );
}

/** Reads a whole body as JSON, up to `bytesMax` bytes and `jsonDepthMax` levels. Undefined if it is longer, deeper or not JSON. */
export async function readJsonBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<JsonValue | undefined> {
  const bytes = await gatherBytes(body, bytesMax);
  if (bytes === undefined || !isShallowJson(bytes, jsonDepthMax)) return undefined;
  try {
    return parseExactJson(Buffer.from(bytes).toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * A connection's failure in a form that may be shown: the host and what went wrong. Errors that are already meant for users pass unchanged.
 * Texts of the network stack are left out, since they name internal addresses.
 */
export function toDownloadError(error: unknown, host: string): VisibleError {
  if (error instanceof VisibleError) return error;
  const code = findErrorCode(error);
  const reason = reasons[code] ?? (code === '' ? 'the request failed' : `the request failed with ${code}`);
  return new FailedOperationError(`Unable to read from ${host}: ${reason}`, { cause: error });
}

/** An error's code from Node, OpenSSL or the HTTP client; empty if it has none. */
export function findErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  // Undici has lost the parser's own codes.
  if (error.name === 'HTTPParserError') return error.name;
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const reasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'its name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  ENOTFOUND: 'its name could not be resolved',
  EPIPE: 'the connection was lost',
  HTTPParserError: 'its answer is not HTTP',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_BODY_TIMEOUT: 'the transfer stalled',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: `its headers have more than ${answerHeadersBytesMax} bytes`,
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_SOCKET: 'the connection was lost',
  Z_BUF_ERROR: 'its compressed answer is incomplete',
  Z_DATA_ERROR: 'its compressed answer is damaged',
};

function decodeBody(body: Readable, { contentEncoding, host }: ResponseBodyOptions): Readable {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return body;
  if (encoding === 'gzip' || encoding === 'x-gzip') return pipeline(body, createGunzip(), () => {});
  body.destroy();
  throw new FailedOperationError(
    `Unable to read from ${host}: it answered in an encoding that was not asked for`,
  );
}

import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FailedOperationError, VisibleError } from '../../core/errors.ts';
import type { JsonValue } from '../../core/json.ts';

/** What a body is read with. */
export interface ResponseBodyOptions {
  /** Who sent it, for messages. */
  readonly host: string;
  /** Most bytes to accept, counted after decompression. */
  readonly bytesMax: number;
  /** The `Content-Encoding` header, if any. Only gzip was asked for. */
  readonly contentEncoding: string | undefined;
  /** The `Content-Length` header, if any. */
  readonly contentLength: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The bytes of a body as they arrive, decompressed; nothing is read ahead of the caller but what the sockets buffer.
 * Iterate it or abort the signal: otherwise the connection stays open.
 *
 * @throws FailedOperationError when the body is announced as larger than `bytesMax` or in an unknown encoding. While
 *   iterating: FailedOperationError when it turns out larger or the connection fails, the signal's reason once that
 *   is aborted.
 */
export function readResponseBody(body: Readable, options: ResponseBodyOptions): AsyncIterable<Uint8Array> {
  if (Number(options.contentLength ?? 0) > options.bytesMax) {
    body.destroy();
    throw tooLarge(options);
  }
  return limitBody(decodeBody(body, options), options);
}

async function* limitBody(body: Readable, options: ResponseBodyOptions) {
  let received = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      received += chunk.byteLength;
      if (received > options.bytesMax) throw tooLarge(options);
      yield chunk;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw toDownloadError(error, options.host);
  }
}

function tooLarge({ bytesMax, host }: ResponseBodyOptions): FailedOperationError {
  return new FailedOperationError(`The answer of ${host} is larger than the limit of ${bytesMax} bytes`);
}

/**
 * Reads a whole body as JSON, as long as it has no more than `bytesMax` bytes. Undefined when it is longer or something
 * else.
 */
export async function readJsonBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<JsonValue | undefined> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (received > bytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * A failure of a connection in words that may be shown: the host and what went wrong. Errors that are already meant
 * for users pass. Texts of the network stack stay out, for they name internal addresses.
 */
export function toDownloadError(error: unknown, host: string): VisibleError {
  if (error instanceof VisibleError) return error;
  const code = findErrorCode(error);
  const reason = reasons[code] ?? (code === '' ? 'the request failed' : `the request failed with ${code}`);
  return new FailedOperationError(`Unable to read from ${host}: ${reason}`, { cause: error });
}

/** The code that Node, OpenSSL or the HTTP client gave an error; empty when it has none. */
export function findErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

const reasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'its name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  ENOTFOUND: 'its name could not be resolved',
  EPIPE: 'the connection was lost',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_BODY_TIMEOUT: 'the transfer stalled',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
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

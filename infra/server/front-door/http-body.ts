import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { toTooLargeMessage } from '#tasks/payload-limit.ts';
import { HttpError, MalformedAnswerError } from '../functions/http-error.ts';
import type { AnswerSink } from '../functions/response-streaming.ts';
import type { FrontDoorLimits } from './http-limits.ts';

/** How a body is read. */
export interface ReadBodyOptions {
  readonly limits: Pick<
    FrontDoorLimits,
    'bodyIdleMs' | 'bodyTimeoutMs' | 'requestBytesMax' | 'refusedBodyBytesMax' | 'refusedBodyMs'
  >;
  /** Called with each chunk before it is kept; what it throws refuses the body. */
  addBytes(count: number): void;
}

/**
 * Reads a request's body. Never keeps more than the limit.
 *
 * @throws HttpError 413 when it exceeds `requestBytesMax`, 408 when it comes too slowly, whatever `addBytes` throws; the rest of a
 *   refused body is for {@link writeRefusal}
 */
export async function readBody(request: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  const { bodyIdleMs, bodyTimeoutMs, requestBytesMax } = options.limits;
  const { 'content-length': statedLength = '0', 'transfer-encoding': encoding } = request.headers;
  checkBodySize(Number(statedLength), requestBytesMax);
  if (encoding === undefined && Number(statedLength) === 0) return noBody(request);
  const chunks: Buffer[] = [];
  let length = 0;
  const reading = Promise.withResolvers<Buffer>();
  const tooSlow = () => reject(refuseSlowness());
  const timeout = setTimeout(tooSlow, bodyTimeoutMs);
  const idle = setTimeout(tooSlow, bodyIdleMs);
  const { reject } = reading;
  const keep = (chunk: Buffer): void => {
    length += chunk.length;
    idle.refresh();
    try {
      checkBodySize(length, requestBytesMax);
      options.addBytes(chunk.length);
      chunks.push(chunk);
    } catch (error) {
      request.off('data', keep);
      chunks.length = 0;
      reject(error);
    }
  };
  request.on('data', keep).once('error', reject);
  request.once('end', () => reading.resolve(Buffer.concat(chunks, length)));
  request.once('close', () => reject(new Error('The caller is gone')));
  try {
    return await reading.promise;
  } finally {
    clearTimeout(timeout);
    clearTimeout(idle);
    request.off('data', keep);
  }
}

/** Timers and listeners cost a read as much as all else that the front door does for it. */
function noBody(request: IncomingMessage): Buffer {
  request.resume();
  return Buffer.alloc(0);
}

/** A request that is refused, and where it is answered. */
export interface RefusedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly limits: ReadBodyOptions['limits'];
}

/**
 * Answers a request that is refused, as {@link writeAnswer} does, and drops what is still to come of its body, so that its sender gets to
 * read the answer; one that sends much, or takes its time, is cut off. A connection that ends with the answer ends after that: one that is
 * closed with unread bytes is reset, and the answer may be lost with it (RFC 9112, section 9.6).
 */
export function writeRefusal({ request, response, limits }: RefusedRequest, answer: unknown): void {
  writeAnswer(response, answer, (content) => {
    if (response.shouldKeepAlive) response.end(content);
    else response.write(content);
  });
  dropBody(request, limits, () => void response.end());
}

/** @param onDone called when nothing more comes */
function dropBody(
  request: IncomingMessage,
  { refusedBodyBytesMax, refusedBodyMs }: ReadBodyOptions['limits'],
  onDone: () => void,
): void {
  if (request.complete || request.destroyed) {
    onDone();
    return;
  }
  let length = 0;
  const cut = () => void request.destroy();
  const timeout = setTimeout(cut, refusedBodyMs);
  const finish = () => {
    clearTimeout(timeout);
    onDone();
  };
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > refusedBodyBytesMax) cut();
  });
  request.once('error', () => undefined).once('close', finish);
  request.once('end', finish).resume();
}

function checkBodySize(length: number, bytesMax: number): void {
  if (length > bytesMax) throw refuseSize(`a body of ${length} bytes or more exceeds`, bytesMax);
}

function refuseSlowness(): HttpError {
  return new HttpError(408, 'The body did not arrive in time');
}

/** 413 for what is over the limit. @param what start of a sentence, for example `its body exceeds` */
export function refuseSize(what: string, bytesMax: number): HttpError {
  return new HttpError(413, toTooLargeMessage(what, bytesMax));
}

/**
 * Writes the answer of a function, as API Gateway's proxy integration does.
 *
 * @param answer `{statusCode, headers, multiValueHeaders, body, isBase64Encoded}`
 * @param end writes the body, and ends the answer now or later
 * @throws MalformedAnswerError before anything is written
 */
export function writeAnswer(
  response: ServerResponse,
  answer: unknown,
  end = (content: Buffer | string): void => void response.end(content),
): void {
  if (!isJsonObject(answer)) throw new MalformedAnswerError('The answer must be an object');
  const { statusCode, body = null, isBase64Encoded } = answer;
  if (body !== null && typeof body !== 'string') throw new MalformedAnswerError('body must be a string');
  const content = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8');
  if (!beginAnswer(response, answer)) return;
  const hasBody = statusCode !== 204 && statusCode !== 304;
  if (hasBody) response.setHeader('content-length', content.length);
  end(hasBody ? content : '');
}

/**
 * Sets status and headers.
 *
 * @param answer `{statusCode, headers, multiValueHeaders}`
 * @returns whether there is still a caller to answer
 * @throws MalformedAnswerError
 */
function beginAnswer(response: ServerResponse, answer: unknown): boolean {
  if (!isJsonObject(answer)) throw new MalformedAnswerError('The answer must be an object');
  const { statusCode } = answer;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) {
    throw new MalformedAnswerError('statusCode must be a number from 200 to 599');
  }
  if (response.headersSent || response.destroyed) return false;
  for (const [name, value] of toHeaders(answer)) response.setHeader(name, value);
  response.statusCode = Number(statusCode);
  return true;
}

/**
 * Takes a streamed answer. Once the caller is gone it fails with `EPIPE`, so that the function stops: what is without end would go on
 * for as long as its time-outs allow.
 */
export function toAnswerSink(response: ServerResponse): AnswerSink {
  let isTaken = false;
  return {
    begin(description) {
      isTaken = beginAnswer(response, description);
    },
    async write(bytes) {
      if (!isTaken) return;
      if (response.destroyed) throw Object.assign(new Error('The caller is gone'), { code: 'EPIPE' });
      if (response.write(bytes)) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          response.off('drain', go).off('close', go);
          resolve();
        };
        response.on('drain', go).on('close', go);
      });
    },
    end() {
      if (isTaken) response.end();
    },
  };
}

/** Headers that belong to the connection, or that the server computes. */
const ownHeaders = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

function toHeaders({ headers, multiValueHeaders }: JsonObject): Map<string, string | string[]> {
  const merged = new Map<string, string | string[]>();
  for (const group of [headers, multiValueHeaders]) {
    for (const [name, value] of Object.entries(isJsonObject(group) ? group : {})) {
      if (!ownHeaders.has(name.toLowerCase())) merged.set(name.toLowerCase(), toHeaderValue(value));
    }
  }
  return merged;
}

function toHeaderValue(value: JsonValue): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

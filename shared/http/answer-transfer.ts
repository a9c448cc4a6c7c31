import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { FailedOperationError } from '#core/errors.ts';
import { payloadBytesMax } from '#tasks/payload-limit.ts';
import { type Answer, toPieces } from './answer.ts';
import { findHeader } from './requests/event-parts.ts';

/** A way to send an answer. */
export interface Transfer<R> {
  /** Whether an answer arrives either whole or not at all: then another one can replace one that could not be sent. */
  readonly isWhole: boolean;
  /** Whether gzip would arrive unchanged, where the caller accepts it. */
  mayCompress(event: APIGatewayProxyEvent): boolean;
  /** Resolves when the whole answer is sent. @throws the error that breaks it off */
  send(answer: Answer): Promise<R>;
}

/** Sends answers in one piece. An answer larger than Lambda's limit is a FailedOperationError. */
export const wholeTransfer: Transfer<APIGatewayProxyResult> = {
  isWhole: true,
  // API Gateway decodes base64 for callers that accept the bytes.
  mayCompress: (event) => findHeader(event, 'accept') !== undefined,
  send: toProxyResult,
};

/** Sends an answer piece by piece, no faster than it is read. A caller that disconnects before its end is no failure. */
export function createStreamTransfer(stream: Writable): Transfer<void> {
  return {
    isWhole: false,
    mayCompress: () => true,
    async send(answer) {
      try {
        await streamAnswer(answer, stream);
      } catch (error) {
        if (!isBrokenPipe(error)) throw error;
      }
    },
  };
}

/** The caller is gone: nothing is left to answer, and nothing went wrong. */
function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

async function toProxyResult({ status, headers, body }: Answer): Promise<APIGatewayProxyResult> {
  const isText = typeof body === 'string';
  const content = isText ? body : (await collect(body)).toString('base64');
  const result = { statusCode: status, headers, body: content, isBase64Encoded: !isText };
  // Escaping turns one byte into six at most.
  const size = content.length < payloadBytesMax / 7 ? 0 : Buffer.byteLength(JSON.stringify(result));
  if (size > payloadBytesMax) throw tooLarge(size);
  return result;
}

async function collect(body: Exclude<Answer['body'], string>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of toPieces(body)) {
    size += piece.length;
    if (size > payloadBytesMax) throw tooLarge(size);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

function tooLarge(size: number): FailedOperationError {
  return new FailedOperationError(
    `The answer is too large: its ${size} bytes or more exceed the 6 MB (${payloadBytesMax} bytes) that AWS Lambda hands ` +
      'on in one piece; the stack must be deployed with responseStreaming',
  );
}

async function streamAnswer({ status, headers, body }: Answer, stream: Writable): Promise<void> {
  const out = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
  // Only the first write sends status and headers: a body may be empty.
  out.write('');
  for await (const piece of toPieces(body)) {
    // A failed stream accepts all writes, without waiting.
    if (out.errored) throw out.errored;
    if (!out.write(piece)) await once(out, 'drain');
  }
  await new Promise<void>((resolve, reject) => {
    out.once('error', reject);
    out.end(resolve);
  });
}

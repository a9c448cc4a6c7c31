import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { FailedOperationError } from '../../core/errors.ts';
import { payloadBytesMax } from '../../core/tasks/payload-limit.ts';
import { type Answer, toPieces } from './answer.ts';

/**
 * Hands an answer over in one piece.
 *
 * @throws FailedOperationError when it is larger than Lambda hands on
 */
export async function toProxyResult({ status, headers, body }: Answer): Promise<APIGatewayProxyResult> {
  const isText = typeof body === 'string';
  const content = isText ? body : (await collect(body)).toString('base64');
  const result = { statusCode: status, headers, body: content, isBase64Encoded: !isText };
  // Escaping makes six bytes of one at the most.
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

/**
 * Hands an answer over piece by piece, no faster than it is taken. Resolves when all of it is.
 *
 * @throws what breaks the body off: nothing can be told to who called any more
 */
export async function streamAnswer({ status, headers, body }: Answer, stream: Writable): Promise<void> {
  const out = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
  // The first write, and nothing else, sends status and headers on their way: a body may be empty.
  out.write('');
  for await (const piece of toPieces(body)) {
    // A stream that has failed takes whatever comes, and waits for nothing.
    if (out.errored) throw out.errored;
    if (!out.write(piece)) await once(out, 'drain');
  }
  await new Promise<void>((resolve, reject) => {
    out.once('error', reject);
    out.end(resolve);
  });
}

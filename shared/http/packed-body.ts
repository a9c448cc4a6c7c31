import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { InvalidInputError, TooLargeError } from '#core/errors.ts';

/** Type of a gzipped body. */
const packedType = 'application/gzip';

/** Maximum bytes of a body, as received and unpacked. */
export interface PackedBytesMax {
  readonly packed: number;
  readonly unpacked: number;
}

/** The text of a body that may be gzipped. @throws InvalidInputError where there is none; TooLargeError where it is larger */
export function unpackBody(
  { body, isBase64Encoded }: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>,
  type: string | undefined,
  bytesMax: PackedBytesMax,
): string {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  const isPacked = type?.split(';')[0]?.trim().toLowerCase() === packedType;
  const most = isPacked ? bytesMax.packed : bytesMax.unpacked;
  if (bytes.byteLength > most)
    throw new TooLargeError(`The body has ${bytes.byteLength} bytes: at most ${most} are accepted`);
  if (!isPacked) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax.unpacked }).toString('utf8');
  } catch (error) {
    if (error instanceof RangeError)
      throw new TooLargeError(`The body has more than ${bytesMax.unpacked} bytes unpacked`);
    throw new InvalidInputError('The body is not gzipped, as its type says');
  }
}

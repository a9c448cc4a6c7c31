import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ItemTooLargeError } from '../../store/cache-store.ts';

/** Bytes of a packed text: below DynamoDB's 400 KB an item, with room for its other attributes. */
export const packedBytesMax = 380 * 1024;

/**
 * A text as an attribute: unchanged when it is small or does not shrink, otherwise compressed.
 *
 * @param options.plainBytesMax up to this many bytes it is not compressed.
 * @param options.what what it belongs to, for the error.
 * @throws ItemTooLargeError when it does not fit into an item.
 */
export function packText(
  text: string,
  { plainBytesMax, what }: { plainBytesMax: number; what: string },
): string | Uint8Array {
  const bytes = Buffer.byteLength(text);
  if (bytes <= plainBytesMax) return text;
  const packed = deflateRawSync(text);
  const least = Math.min(packed.length, bytes);
  if (least > packedBytesMax) {
    throw new ItemTooLargeError(
      `${what} has ${least} bytes compressed; at most ${packedBytesMax} can be cached`,
    );
  }
  return packed.length < bytes ? packed : text;
}

/** The text of an attribute that {@link packText} made. */
export function unpackText(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : inflateRawSync(value).toString('utf8');
}

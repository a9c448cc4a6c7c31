import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ItemReader } from './item-reader.ts';
import type { Item, ItemKey, ItemTable } from './table.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Bytes of one chunk: below DynamoDB's 400 KB an item, with room for its other attributes. */
const chunkBytesMax = 350 * 1024;

/**
 * Writes a text of any length as compressed items, one after the other, and returns their number.
 *
 * @param options.getKey the key of the n-th chunk; keys must sort in that order.
 * @param options.expiresAt seconds since the epoch; left out for chunks that stay until they are deleted.
 */
export async function writeChunks(
  table: ItemTable,
  text: string,
  options: { getKey: (index: number) => ItemKey; expiresAt?: number },
): Promise<number> {
  const bytes = await compress(text);
  const count = Math.ceil(bytes.length / chunkBytesMax);
  for (let index = 0; index < count; index += 1) {
    const data = bytes.subarray(index * chunkBytesMax, (index + 1) * chunkBytesMax);
    await table.put({ ...options.getKey(index), data, expiresAt: options.expiresAt });
  }
  return count;
}

/** The text of chunk items, given in order. @throws MalformedItemError */
export async function readChunks(reader: ItemReader, items: readonly Item[]): Promise<string> {
  const bytes = await decompress(Buffer.concat(items.map((item) => reader.getBytes(item, 'data'))));
  return bytes.toString('utf8');
}

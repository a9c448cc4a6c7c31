import { hash } from 'node:crypto';
import { readChunks, writeChunks } from '#platform/aws/chunks.ts';
import { taskReader } from '#platform/aws/item-reader.ts';
import type { ItemTable } from '#platform/aws/table.ts';
import type { SubmittedOperation } from '../task.ts';
import { getChunkKey, getPayloadKey, type HeaderItem, inlinePayloadMax, parsePayload } from './task-items.ts';

/** The attributes of a header that hold or name its payload. */
export type StoredPayload = Pick<HeaderItem, 'payload' | 'chunks'>;

/**
 * Prepares a payload for its header: a small one goes into it, a larger one is written as compressed chunks first. The header that names
 * them is the commit.
 *
 * @param options.attempt a random id for the chunks' partition.
 * @param options.expiresAt expiry of the chunks, seconds since the epoch.
 */
export async function writePayload(
  table: ItemTable,
  operations: readonly SubmittedOperation[],
  options: { attempt: string; expiresAt: number },
): Promise<StoredPayload> {
  const text = JSON.stringify(operations);
  if (Buffer.byteLength(text) <= inlinePayloadMax) return { payload: text };
  const pk = getPayloadKey(options.attempt);
  const count = await writeChunks(table, text, {
    getKey: (index) => ({ pk, sk: getChunkKey(index) }),
    expiresAt: options.expiresAt,
  });
  return { chunks: { attempt: options.attempt, count, hash: hash('sha256', text) } };
}

/** The operations that a header holds or names. @throws Error when chunks are missing or do not amount to the hash in the header. */
export async function readPayload(
  table: ItemTable,
  stored: StoredPayload & Pick<HeaderItem, 'pk' | 'sk'>,
): Promise<SubmittedOperation[]> {
  if (stored.payload !== undefined) return parsePayload(stored.payload, stored);
  if (stored.chunks === undefined) throw new Error('the task has no payload');
  const text = await readChunks(taskReader, await table.query(getPayloadKey(stored.chunks.attempt)));
  if (hash('sha256', text) !== stored.chunks.hash) throw new Error('the payload does not match its hash');
  return parsePayload(text, stored);
}

/** Deletes the chunks of a payload, if it has any. Repeating it is harmless. */
export async function removePayload(table: ItemTable, stored: StoredPayload): Promise<void> {
  if (stored.chunks === undefined) return;
  const pk = getPayloadKey(stored.chunks.attempt);
  for (let index = 0; index < stored.chunks.count; index += 1) {
    await table.delete({ pk, sk: getChunkKey(index) });
  }
}

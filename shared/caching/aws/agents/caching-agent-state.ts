import { hash as digest } from 'node:crypto';
import { readChunks, writeChunks } from '#platform/aws/chunks.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import type { Item, ItemUpdate } from '#platform/aws/table.ts';
import type { CachingAgentLease } from '../../scheduling/caching-agent-store.ts';
import { toKeyNumber } from '../store/cache-keys.ts';
import type { CacheTable } from '../store/cache-table.ts';
import { findStateChunks, getStatePartition, type StateChunks } from './caching-agent-items.ts';

/** Bytes of a state that its caching agent's item may hold: a run without changes writes, and pays for, the whole item. */
export const inlineStateMax = 4 * 1024;

/** A state that was written but not yet committed. */
export interface WrittenState {
  /** Adds it to the update that commits it. */
  addTo(update: ItemUpdate): ItemUpdate;
  /** Whether a caching agent's item holds or names it. */
  isIn(item: Item): boolean;
  /** Deletes what it replaced, or its own chunks where it was not committed. */
  clean(committed: boolean): Promise<void>;
}

/** Prepares a state: a small one for its caching agent's item, a larger one as chunks. Writing the item that names them commits it. */
export async function writeState(
  table: CacheTable,
  lease: CachingAgentLease,
  state: string,
): Promise<WrittenState> {
  lease.stateWrites += 1;
  const prefix = `${toKeyNumber(lease.fence)}#${toKeyNumber(lease.stateWrites)}#`;
  const pk = getStatePartition(lease);
  const isSmall = Buffer.byteLength(state) <= inlineStateMax;
  const chunks = isSmall ? undefined : await writeStateChunks(table, state, { pk, prefix });
  return {
    addTo: (update) => update.set({ state: isSmall ? state : undefined, stateChunks: chunks }),
    isIn(item) {
      return isSmall ? item['state'] === state : findStateChunks(item)?.prefix === prefix;
    },
    async clean(committed) {
      if (!committed) await deleteChunks(table, pk, (sk) => sk.startsWith(prefix));
      // Chunks of a later lease are not ours: they may be about to be committed.
      else if (lease.hasChunks) await deleteChunks(table, pk, (sk) => sk < prefix);
      if (committed) lease.hasChunks = chunks !== undefined;
    },
  };
}

/** The state that a caching agent's item holds or names. @throws Error when chunks are missing or do not amount to the hash in the item. */
export async function readState(table: CacheTable, found: Item): Promise<string | undefined> {
  const stateChunks = findStateChunks(found);
  if (stateChunks === undefined) return cacheReader.findText(found, 'state');
  const account = cacheReader.getText(found, 'account');
  const name = cacheReader.getText(found, 'name');
  const { prefix, hash } = stateChunks;
  const chunks: Item[] = [];
  const query = { pk: getStatePartition({ account, name }), prefix, consistent: true };
  for await (const items of table.queryPages(query)) chunks.push(...items);
  const text = chunks.length === stateChunks.count ? await readChunks(cacheReader, chunks) : '';
  if (digest('sha256', text) !== hash)
    throw new Error(`the state of agent ${name} of ${account} is not whole`);
  return text;
}

async function writeStateChunks(
  table: CacheTable,
  state: string,
  { pk, prefix }: { pk: string; prefix: string },
): Promise<StateChunks> {
  const getKey = (index: number) => ({ pk, sk: `${prefix}${toKeyNumber(index)}` });
  return { prefix, count: await writeChunks(table, state, { getKey }), hash: digest('sha256', state) };
}

/** Deletes those chunks of a caching agent's states in their partition that `isDeleted` picks; default: all. */
export async function deleteChunks(
  table: CacheTable,
  pk: string,
  isDeleted: (sk: string) => boolean = () => true,
): Promise<void> {
  for await (const items of table.queryPages({ pk, consistent: true, attributes: ['sk'] })) {
    const keys = items.map((item) => String(item['sk'])).filter(isDeleted);
    for (const sk of keys) await table.delete({ pk, sk });
  }
}

import type { AccountEpoch } from '../../core/cache/cache-store.ts';
import { type Item, type ItemKey, ItemUpdate } from '../table.ts';
import { toKeyText } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';

/** See {@link CacheStore.getEpoch}. */
export async function getEpoch({ table }: CacheParts, account: string): Promise<AccountEpoch | undefined> {
  const item = await table.get(getEpochKey(account));
  return item && toEpoch(item);
}

/** See {@link CacheStore.raiseEpoch}. */
export async function raiseEpoch(
  { table }: CacheParts,
  account: string,
  { epoch, cluster }: AccountEpoch,
): Promise<AccountEpoch> {
  const key = getEpochKey(account);
  const isFirst = { expression: 'attribute_not_exists(pk)' };
  if (await table.putIf({ ...key, epoch, cluster }, isFirst)) return { epoch, cluster };
  const update = new ItemUpdate()
    .set('epoch', epoch)
    .set('cluster', cluster)
    .require('epoch', '<=', epoch - 1);
  const item = (await table.update(key, update)) ?? (await table.get(key));
  // Nobody deletes it: who comes back under the name of an account must find how far it was.
  return item === undefined ? { epoch, cluster } : toEpoch(item);
}

function getEpochKey(account: string): ItemKey {
  return { pk: `EPOCH#${toKeyText(account)}`, sk: 'EPOCH' };
}

function toEpoch(item: Item): AccountEpoch {
  return { epoch: Number(item['epoch']), cluster: String(item['cluster']) };
}

import { cacheReader } from '#platform/aws/item-reader.ts';
import { type Item, type ItemKey, ItemUpdate } from '#platform/aws/table.ts';
import type { AccountEpoch } from '../../store/cache-store.ts';
import { toKeyText } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';

/** See {@link CacheStore.getEpoch}. */
export async function getEpoch(parts: CacheParts, account: string): Promise<AccountEpoch | undefined> {
  const item = await parts.table.get(getEpochKey(account));
  return item && findEpoch(parts, item);
}

/** See {@link CacheStore.raiseEpoch}. */
export async function raiseEpoch(
  parts: CacheParts,
  account: string,
  { epoch, cluster }: AccountEpoch,
): Promise<AccountEpoch> {
  const { table } = parts;
  const key = getEpochKey(account);
  const isFirst = { expression: 'attribute_not_exists(pk)' };
  if (await table.putIf({ ...key, epoch, cluster }, isFirst)) return { epoch, cluster };
  const update = new ItemUpdate()
    .set('epoch', epoch)
    .set('cluster', cluster)
    .require('epoch', '<=', epoch - 1);
  const item = (await table.update(key, update)) ?? (await table.get(key));
  // It is never deleted: an account that comes back under this name must continue from its last epoch.
  const stored = item && findEpoch(parts, item);
  // An unreadable one is overwritten. Epochs rise with time: there was none later.
  if (item !== undefined && stored === undefined) await table.put({ ...key, epoch, cluster });
  return stored ?? { epoch, cluster };
}

/** See {@link CacheStore.requestComparison}. */
export async function requestComparison(
  { table }: CacheParts,
  account: string,
  nowMs: number,
): Promise<boolean> {
  const update = new ItemUpdate().set('compareMs', nowMs).require('epoch', '>', 0);
  return (await table.update(getEpochKey(account), update)) !== undefined;
}

function getEpochKey(account: string): ItemKey {
  return { pk: `EPOCH#${toKeyText(account)}`, sk: 'EPOCH' };
}

function findEpoch({ unreadable }: CacheParts, item: Item): AccountEpoch | undefined {
  return unreadable.read({ pk: String(item['pk']) }, () => {
    cacheReader.checkForm(item);
    const compareMs = cacheReader.findNumber(item, 'compareMs');
    return {
      epoch: cacheReader.getNumber(item, 'epoch'),
      cluster: cacheReader.getText(item, 'cluster'),
      ...(compareMs !== undefined && { compareMs }),
    };
  });
}

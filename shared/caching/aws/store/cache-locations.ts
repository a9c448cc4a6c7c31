import { cacheReader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { toKeyText } from './cache-keys.ts';
import { isUnchanged } from './cache-names.ts';
import { listHeads } from './cache-objects.ts';
import type { CacheParts } from './cache-parts.ts';
import { untilUncontended } from './contention.ts';

const partition = 'NAMESPACES';

/** See {@link CacheStore.recordLocations}. Even unchanged ones are written: of two calls the one that read first must not write last. */
export async function recordLocations(parts: CacheParts, account: string, kind: string): Promise<void> {
  const key = getRecordedLocationsKey(account);
  await untilUncontended({ ...parts, what: `the locations of account ${account}` }, async () => {
    const before = (await parts.table.get(key)) ?? {};
    const names: string[] = [];
    for await (const heads of listHeads(parts, { account, kind }))
      names.push(...heads.map((head) => head.key.name));
    const item = { ...key, account, names, revision: Number(before['revision'] ?? 0) + 1 };
    return (await parts.table.putIf(item, isUnchanged(before))) || undefined;
  });
}

/** See {@link CacheStore.listLocations}. */
export async function listLocations(
  { table, unreadable }: CacheParts,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found: Item[] = [];
  const [first] = accounts;
  if (first === undefined) return new Map();
  if (accounts.length === 1)
    found.push((await table.get(getRecordedLocationsKey(first), { consistent: false })) ?? {});
  else for await (const items of table.queryPages({ pk: partition, consistent: false })) found.push(...items);
  const read = (item: Item) => {
    cacheReader.checkForm(item);
    return cacheReader.findTexts(item, 'names');
  };
  const names = new Map(
    found.map((item) => [item['account'], unreadable.read({ ...item, pk: partition }, () => read(item))]),
  );
  return new Map(accounts.map((account) => [account, names.get(account) ?? []]));
}

/** Where the recorded locations of an account are stored. */
export function getRecordedLocationsKey(account: string): ItemKey {
  return { pk: partition, sk: toKeyText(account) };
}

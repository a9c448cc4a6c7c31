import { forEachConcurrently } from '#core/concurrency.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { listAllNames } from '../../store/recorded-names.ts';
import { directoryPartition, getDirectoryKey } from './cache-directory.ts';
import { getRecordedLocationsKey } from './cache-locations.ts';
import { isUnchanged } from './cache-names.ts';
import { getKindsKey, getPartition } from './cache-objects.ts';
import type { CacheParts } from './cache-parts.ts';
import { getLocationsKey, getRowPartition } from './cache-rows.ts';

const defaultLimit = 1_000;

/** Deletions at a time. */
const concurrency = 16;

/** See {@link CacheStore.deleteAccount}. */
export async function deleteAccount(
  parts: CacheParts,
  account: string,
  { limit = defaultLimit }: { readonly limit?: number } = {},
): Promise<{ deleted: number; done: boolean }> {
  const kinds = await listStoredKinds(parts, account);
  const applications = await listApplicationsOf(parts, account);
  const locations = await listRecorded(parts, getLocationsKey(account), 'namespaces');
  const places = [
    ...applications.map((application) => ({ account, application })),
    ...locations.map((location) => ({ account, location })),
  ];
  let deleted = 0;
  for (const kind of kinds) {
    deleted += await empty(parts, { pk: getPartition(account, kind), by: 'version', limit: limit - deleted });
  }
  for (const place of places) {
    const pk = getRowPartition(place);
    deleted += await empty(parts, { pk, by: 'revision', limit: limit - deleted });
  }
  if (deleted >= limit) return { deleted, done: false };
  const isThere = { expression: 'attribute_exists(pk)' };
  if (await parts.table.deleteIf(getRecordedLocationsKey(account), isThere)) deleted += 1;
  const nothing = async () => ({ clusters: [], locations: [] });
  const waits: boolean[] = [];
  for (const key of [getKindsKey(account), getLocationsKey(account)]) {
    waits.push(await parts.names.prune(key, { readLeft: async () => ({}) }));
  }
  for (const application of applications) {
    waits.push(await parts.names.prune(getDirectoryKey(application, account), { readLeft: nothing }));
  }
  return { deleted, done: deleted === 0 && !waits.includes(true) };
}

/** Kinds of which an account has or had objects. */
export async function listStoredKinds(parts: CacheParts, account: string): Promise<string[]> {
  return listRecorded(parts, getKindsKey(account), 'kinds');
}

async function listRecorded({ names }: CacheParts, key: ItemKey, topic: string): Promise<string[]> {
  const recorded = await names.find(key);
  return recorded === undefined ? [] : listAllNames(recorded, topic).sort();
}

async function listApplicationsOf({ table }: CacheParts, account: string): Promise<string[]> {
  const applications = new Set<string>();
  const pages = table.queryPages({
    pk: directoryPartition,
    consistent: true,
    attributes: ['application'],
    filter: { expression: 'account = :account', values: { ':account': account } },
  });
  for await (const items of pages) {
    for (const item of items) applications.add(String(item['application']));
  }
  return [...applications];
}

/** Deletes the items of a partition unless they are written meanwhile; `by` is the attribute that shows this. */
async function empty(
  { table }: CacheParts,
  { pk, by, limit }: { pk: string; by: 'version' | 'revision'; limit: number },
): Promise<number> {
  let deleted = 0;
  if (limit <= 0) return deleted;
  for await (const items of table.queryPages({ pk, consistent: true, attributes: ['sk', by] })) {
    await forEachConcurrently(items.slice(0, limit - deleted), concurrency, async (item) => {
      if (await table.deleteIf(toKey(pk, item), isUnchanged(item, by))) deleted += 1;
    });
    if (deleted >= limit) break;
  }
  return deleted;
}

function toKey(pk: string, item: Item): ItemKey {
  return { pk, sk: String(item['sk']) };
}

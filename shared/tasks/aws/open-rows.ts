import { compareText } from '#core/text-order.ts';
import type { ItemTable } from '#platform/aws/table.ts';
import type { OpenRow } from '../task.ts';
import { getOpenKey, openShards, parseOpenRow } from './task-items.ts';

/** Rows read at a time of one shard of the list of open tasks. */
const shardPageMax = 100;

/** The open tasks, oldest first, over all shards. @param limit rows at most @param after key of the row to begin after */
export async function listOpenRows(
  table: ItemTable,
  limit: number,
  after?: string,
): Promise<readonly OpenRow[]> {
  const rows: OpenRow[] = [];
  for (;;) {
    const page = await listPage(table, rows.at(-1)?.key ?? after);
    rows.push(...page);
    if (page.length === 0 || rows.length >= limit) return rows.slice(0, limit);
  }
}

/** The next rows of all shards, oldest first: only those that are surely the next ones. Empty when there are none. */
async function listPage(table: ItemTable, after: string | undefined): Promise<readonly OpenRow[]> {
  const shards = await Promise.all(
    Array.from({ length: openShards }, async (_, shard) => {
      const items = await table.query(getOpenKey(shard), shardPageMax, after);
      return items.map((item) => parseOpenRow(String(item['sk'])));
    }),
  );
  // A shard with a full page may have more rows right after it, before the next ones of other shards.
  const ends = shards.filter((rows) => rows.length === shardPageMax).map((rows) => rows.at(-1)?.key ?? '');
  const isNext = ({ key }: OpenRow): boolean => ends.every((end) => key <= end);
  return shards
    .flat()
    .filter(isNext)
    .sort((one, other) => compareText(one.key, other.key));
}

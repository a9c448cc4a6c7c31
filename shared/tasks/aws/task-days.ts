import type { Item, ItemKey, TimedTable } from '#platform/aws/table.ts';
import { taskRetentionMs } from '../task.ts';
import { parseOpenRow } from './task-items.ts';

/** A list of tasks by the day of their acceptance: all, or those that agents were to run. */
export type DayList = 'TASKS' | 'AGENTTASKS';

const dayMs = 24 * 3600 * 1000;

/** Keys count times down from here, so that the newest row comes first. */
const lastMs = 999_999_999_999_999;

/** Partition of one day: a single partition would hold a whole week's tasks, and take every write. */
function getDayKey(list: DayList, day: number): string {
  return `${list}#${new Date(day * dayMs).toISOString().slice(0, 10)}`;
}

function toDay(ms: number): number {
  return Math.floor(ms / dayMs);
}

/**
 * Key of a task's row in such a list, newest first. Like a row of the list of open tasks it may be there before its task, or point to none.
 *
 * @param openRow key of the task's open row
 */
export function getDayRowKey(list: DayList, openRow: string): ItemKey {
  const { acceptedAtMs } = parseOpenRow(openRow);
  const sk = `${String(lastMs - acceptedAtMs).padStart(15, '0')}|${openRow}`;
  return { pk: getDayKey(list, toDay(acceptedAtMs)), sk };
}

/** The key of the open row in such a row. */
export function parseDayRow(item: Item): string {
  return String(item['sk']).split('|')[1] ?? '';
}

/**
 * The rows of a list, the newest first, at most `limit`.
 *
 * @param options.after key of the open row of the row to begin after. Default: at the newest
 * @param options.sinceMs time of the oldest day, milliseconds. Default: seven days ago
 */
export async function listDayRows(
  { table, clock }: TimedTable,
  list: DayList,
  { limit, after, sinceMs = 0 }: { limit: number; after?: string | undefined; sinceMs?: number | undefined },
): Promise<readonly Item[]> {
  const nowMs = clock.now();
  const oldest = toDay(Math.max(sinceMs, nowMs - taskRetentionMs));
  // Accepting processes' clocks differ: there may be a task of tomorrow.
  const newest = toDay(nowMs) + 1;
  const start = after === undefined ? undefined : getDayRowKey(list, after).sk;
  const first = after === undefined ? newest : Math.min(newest, toDay(parseOpenRow(after).acceptedAtMs));
  const items: Item[] = [];
  for (let day = first; day >= oldest && items.length < limit; day -= 1) {
    items.push(...(await table.query(getDayKey(list, day), limit - items.length, start)));
  }
  return items;
}

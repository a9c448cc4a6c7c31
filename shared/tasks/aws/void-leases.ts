import { forEachConcurrently } from '#core/concurrency.ts';
import { ItemUpdate, type TimedTable } from '#platform/aws/table.ts';
import type { OpenRow } from '../task.ts';
import { listOpenRows } from './open-rows.ts';
import { getHeaderKey } from './task-items.ts';

/** Rows read at a time. */
const pageRows = 1_000;

/** Tasks handled at a time. */
const concurrency = 16;

/**
 * Ends the leases on open tasks, but not those of agents in clusters: for a start that knows that no worker lives. The tasks can then be
 * taken at once; a lease that was ended still counts as an attempt.
 */
export async function voidTaskLeases(parts: TimedTable): Promise<void> {
  let after: string | undefined;
  do {
    const rows = await listOpenRows(parts.table, pageRows, after);
    await forEachConcurrently(rows, concurrency, (row) => voidLease(parts, row));
    after = rows.at(-1)?.key;
  } while (after !== undefined);
}

async function voidLease({ table, clock }: TimedTable, { taskId }: OpenRow): Promise<void> {
  const header = await table.get(getHeaderKey(taskId));
  const now = clock.now();
  const leaseUntil = Number(header?.['leaseUntil'] ?? 0);
  if (header === undefined || header['inbox'] !== undefined || !(leaseUntil > now)) return;
  const update = new ItemUpdate().set({ leaseUntil: now }).require('leaseUntil', '=', leaseUntil);
  await table.update(getHeaderKey(taskId), update);
}

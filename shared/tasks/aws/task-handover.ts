import type { ItemTable, ItemUpdate } from '#platform/aws/table.ts';
import type { TaskInbox, TaskStatus } from '../task.ts';
import { findNextPart } from '../task-parts.ts';
import { deleteInboxRow, putInboxRow } from './inbox-store.ts';
import { type HeaderItem, toInbox, toParting } from './task-items.ts';

/** A prepared handover. */
export interface Handover {
  /** Adds to the header's update the change that makes the next part the present one. */
  apply(update: ItemUpdate): void;
  /** Takes the task out of its previous inbox. Call it once the header is updated. */
  finish(): Promise<void>;
}

/**
 * Prepares to hand a task over to the worker of its next part. The row in that worker's inbox is written before the header, as every row is
 * before what it points to, and the previous row removed after it.
 *
 * @param expiresAt when the row expires, seconds since the epoch
 * @returns undefined for a task that has no further part
 */
export async function prepareHandover(
  table: ItemTable,
  header: HeaderItem,
  expiresAt: number,
): Promise<Handover | undefined> {
  const next = findNextPart(toParting(header));
  if (next === undefined) return undefined;
  const [before, after] = [toInbox(header), next.inbox];
  const key = header.openRow;
  if (after !== undefined) await putInboxRow(table, after.account, { key, expiresAt });
  return {
    apply(update) {
      update.set({ part: (header.part ?? 0) + 1, inbox: after?.account, waitMs: after?.waitMs });
    },
    async finish() {
      if (before !== undefined) await deleteInboxRow(table, before.account, key);
    },
  };
}

/** Where a task waits that begins again. */
export function getFirstInbox({ parts, inbox }: Pick<TaskStatus, 'parts' | 'inbox'>): TaskInbox | undefined {
  return parts === undefined ? inbox : parts[0]?.inbox;
}

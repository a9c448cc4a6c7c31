import type { ItemUpdate } from '#platform/aws/table.ts';
import { firstJournalFormat } from '../journal-format.ts';
import { type Commit, leaseDurationMs } from '../task.ts';
import { getRestMs } from '../wait.ts';
import { unbegun } from './task-items.ts';

/** Refuses a journal of another format, and stores the format of the worker that begins it. */
export function requireFormat(update: ItemUpdate, format: number | 'any'): void {
  if (format === 'any') return;
  update.requireOneOf('journalFormat', [unbegun, format], format === firstJournalFormat);
  update.set({ journalFormat: format });
}

/** Until when no other worker can take a task after a commit. */
export function getLeaseUntil({ next, lookSeconds = 1 }: Commit, now: number): number {
  if (next === 'wait') return now + getRestMs(lookSeconds);
  return next === 'hold' ? now + leaseDurationMs : 0;
}

/** Whether a commit is progress: all but holding the task, or giving it up, with nothing to append. */
export function isProgress({ entries, next }: Commit): boolean {
  return entries.length > 0 || (next !== 'hold' && next !== 'release');
}

import { ItemUpdate } from '#platform/aws/table.ts';
import type { JournalEntry, Submission, TaskInbox, TaskPart } from '../task.ts';
import { toPartAttributes, unbegun } from './task-items.ts';
import type { StoredPayload } from './task-payload.ts';

interface Restart {
  readonly entry: JournalEntry;
  /** Key of its new open row. */
  readonly openRow: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined where it goes on with its stored operations. */
  readonly submission: Submission | undefined;
  /** The payload of the submission. */
  readonly payload: StoredPayload | undefined;
  readonly parts: readonly TaskPart[] | undefined;
  readonly inbox: TaskInbox | undefined;
}

/** The update of a header that starts a failed, retryable task again. */
export function toRestart(restart: Restart): ItemUpdate {
  const { entry, openRow, expiresAt, submission, payload, inbox } = restart;
  const update = new ItemUpdate()
    .remove('endedAt', 'isPutDown', 'cancelledBy')
    .set({ state: 'STARTED', leaseUntil: 0, attempts: 0 })
    // Entries of earlier runs are history only.
    .set({ journalFormat: unbegun, openRow, expiresAt })
    .append('journal', [JSON.stringify(entry)])
    .add('fence', 1)
    .add('run', 1)
    .requireNone('form')
    .require('state', '=', 'FAILED_RETRYABLE');
  if (payload !== undefined) update.set({ payload: payload.payload, chunks: payload.chunks });
  if (submission !== undefined)
    update.set({ accounts: submission.accounts, isRestricted: submission.isRestricted });
  const { parts, part } = toPartAttributes(restart.parts);
  update.set({ inbox: inbox?.account, waitMs: inbox?.waitMs });
  return update.set({ parts, part });
}

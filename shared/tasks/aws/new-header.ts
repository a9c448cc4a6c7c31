import type { NewTask } from '../task.ts';
import { getHeaderKey, type HeaderItem, toInboxAttributes, toPartAttributes, unbegun } from './task-items.ts';
import type { StoredPayload } from './task-payload.ts';

/** What the header of a new task has besides what was submitted. */
export interface NewHeaderParts extends Pick<HeaderItem, 'acceptedAt' | 'openRow' | 'expiresAt'> {
  readonly payload: StoredPayload;
}

/** The header of a task that is accepted now and not begun yet. */
export function toNewHeader(
  task: NewTask,
  { payload, acceptedAt, openRow, expiresAt }: NewHeaderParts,
): HeaderItem {
  return {
    ...getHeaderKey(task.id),
    ...payload,
    taskId: task.id,
    requestId: task.requestId,
    state: 'STARTED',
    acceptedAt,
    ownerId: '',
    account: task.account,
    accounts: task.accounts,
    ...(task.isRestricted && { isRestricted: true }),
    caller: task.caller,
    run: 0,
    attempts: 0,
    fence: 0,
    sequence: 0,
    leaseUntil: 0,
    journalFormat: unbegun,
    openRow,
    ...toInboxAttributes(task.inbox),
    ...toPartAttributes(task.parts),
    journal: [JSON.stringify(task.entry)],
    expiresAt,
  };
}

import { isTexts } from '#platform/aws/item-reader.ts';
import type { Item } from '#platform/aws/table.ts';
import { orchestrationPhase, type Task } from '../task.ts';
import { isState } from './task-items.ts';

/** What is known of a task that cannot be read: it looks like a running one, and belongs to accounts that its header names. */
export function toUnreadableTask(id: string, item: Item, reason: string): Task {
  const { account, accounts, acceptedAt, openRow, state } = item;
  const name = typeof account === 'string' ? account : '';
  const status = `The task cannot be read, and nobody goes on with it: ${reason}`;
  return {
    id,
    requestId: '',
    state: isState(state) ? state : 'STARTED',
    acceptedAtMs: typeof acceptedAt === 'number' ? acceptedAt : 0,
    ownerId: '',
    account: name,
    accounts: isTexts(accounts) ? accounts : [name],
    isRestricted: true,
    caller: {},
    ...{ run: 0, attempts: 0, leaseUntilMs: 0, changedAtMs: 0, told: 0, hasChunks: false },
    openRow: typeof openRow === 'string' ? openRow : '',
    taken: undefined,
    endedAtMs: undefined,
    inbox: undefined,
    journalFormat: undefined,
    journal: [{ key: 'unreadable', lines: [{ phase: orchestrationPhase, status }] }],
    unreadable: reason,
  };
}

import type { ItemTable, TimedTable } from '#platform/aws/table.ts';
import type { OpenRow } from '../task.ts';
import type { InboxStore, TaskHold } from '../task-inbox.ts';
import { getDayRowKey } from './task-days.ts';
import {
  getHeaderKey,
  parseHeader,
  parseOpenRow,
  toInbox,
  toJournalFormat,
  toParting,
} from './task-items.ts';

/** Partition key of the tasks that wait for agents of an account. Sort keys are those of open rows. */
function getInboxKey(account: string): string {
  return `INBOX#${account}`;
}

/** Writes a task's row into the inbox of an account's agents, and its row in the list of agents' tasks. */
export async function putInboxRow(
  table: ItemTable,
  account: string,
  row: { readonly key: string; readonly expiresAt: number },
): Promise<void> {
  const { key, expiresAt } = row;
  await Promise.all([
    table.put({ pk: getInboxKey(account), sk: key, expiresAt }),
    table.put({ ...getDayRowKey('AGENTTASKS', key), expiresAt }),
  ]);
}

/** Deletes such a row; succeeds where there is none. @param key that of the task's open row */
export async function deleteInboxRow(table: ItemTable, account: string, key: string): Promise<void> {
  await table.delete({ pk: getInboxKey(account), sk: key });
}

/** The tasks that wait for agents, in DynamoDB. */
export function createInboxStore({ table, clock }: TimedTable): InboxStore {
  return {
    async list(account: string, limit: number): Promise<readonly OpenRow[]> {
      const items = await table.query(getInboxKey(account), limit);
      return items.map((item) => parseOpenRow(String(item['sk'])));
    },
    async remove(account: string, row: OpenRow): Promise<void> {
      await deleteInboxRow(table, account, row.key);
    },
    async findHold(taskId: string): Promise<TaskHold | undefined> {
      const item = await table.get(getHeaderKey(taskId));
      const header = item && parseHeader(item);
      if (header === undefined || header.expiresAt * 1000 <= clock.now()) return undefined;
      return {
        state: header.state,
        inbox: toInbox(header),
        ...toParting(header),
        run: header.run,
        inlineBytes: header.journal.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
        journalFormat: toJournalFormat(header),
        entries: header.journal.length,
      };
    },
  };
}

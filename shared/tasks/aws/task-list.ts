import type { Item, ItemTable, TimedTable } from '#platform/aws/table.ts';
import { type ListedTask, listAsked, type TaskList } from '../list-tasks.ts';
import type { Task } from '../task.ts';
import { getDayRowKey, listDayRows, parseDayRow } from './task-days.ts';
import { parseOpenRow } from './task-items.ts';

/** Accounts in a row: more are left out. A row of few names costs one unit to write. */
const accountsMax = 100;

/** What a task's row in the list is made of. */
export type RowTask = Pick<Task, 'openRow' | 'accounts' | 'caller' | 'journal'>;

/** Writes a task's row into the list of all tasks. @param expiresAt seconds since the epoch */
export async function putListRow(table: ItemTable, task: RowTask, expiresAt: number): Promise<void> {
  const { operations, applications } = listAsked(task);
  await table.put({
    ...getDayRowKey('TASKS', task.openRow),
    ...{ accounts: task.accounts.slice(0, accountsMax), applications, operations },
    user: task.caller.user,
    expiresAt,
  });
}

/** The list of all tasks, in DynamoDB. */
export function createTaskList(parts: TimedTable): TaskList {
  return {
    async list(options) {
      return (await listDayRows(parts, 'TASKS', options)).map(toListed);
    },
  };
}

function toListed(item: Item): ListedTask {
  const getTexts = (name: string): readonly string[] => {
    const value = item[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    ...parseOpenRow(parseDayRow(item)),
    accounts: getTexts('accounts'),
    applications: getTexts('applications'),
    operations: getTexts('operations'),
    user: typeof item['user'] === 'string' ? item['user'] : undefined,
  };
}

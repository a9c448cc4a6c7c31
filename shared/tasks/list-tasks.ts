import { mapConcurrently } from '#core/concurrency.ts';
import { asJsonArray, asJsonObject, asString } from '#core/json.ts';
import type { OpenRow, Task, TaskState, TaskStore } from './task.ts';

/** A row of the list of all tasks, with what was asked for. Like an open row it may be there before its task, or point to none. */
export interface ListedTask extends OpenRow {
  readonly accounts: readonly string[];
  readonly applications: readonly string[];
  readonly operations: readonly string[];
  readonly user: string | undefined;
}

/** The tasks that were accepted in the last seven days. */
export interface TaskList {
  /** Their rows, newest first. @param options.after key of the row to begin after. Default: at the newest */
  list(options: {
    readonly limit: number;
    readonly after?: string | undefined;
    readonly sinceMs?: number | undefined;
  }): Promise<readonly ListedTask[]>;
}

/** Tasks to be listed: those of which all that is given holds. */
export interface TaskFilter {
  readonly state?: TaskState | undefined;
  readonly account?: string | undefined;
  readonly application?: string | undefined;
  readonly user?: string | undefined;
  readonly operation?: string | undefined;
  /** Accepted then or later, milliseconds. */
  readonly sinceMs?: number | undefined;
}

/** A page of a list. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Key of the row to go on after; undefined at the end. */
  readonly after: string | undefined;
}

/** What one page takes of the list. */
export interface PageOptions {
  /** Tasks at most. */
  readonly limit: number;
  readonly after?: string | undefined;
  mayRead(task: Task): boolean;
}

/** Rows read at a time, and for one page: a filter that matches few tasks has pages with few, or none. */
const rowsAtATime = 200;
/** Rows that one page takes into account at most. */
export const pageRowsMax = 2_000;

/** Tasks read at a time. */
const concurrency = 16;

/** A page of the tasks of the last seven days, newest first: those that match the filter, and that the caller may read. */
export async function listTasks(
  { store, list }: { readonly store: Pick<TaskStore, 'find'>; readonly list: TaskList },
  filter: TaskFilter,
  { limit, after, mayRead }: PageOptions,
): Promise<TaskPage> {
  const tasks: Task[] = [];
  let last = after;
  for (let seen = 0; seen < pageRowsMax; ) {
    const rows = await list.list({ limit: rowsAtATime, after: last, sinceMs: filter.sinceMs });
    const matching = rows.filter((row) => matches(row, filter));
    while (matching.length > 0) {
      const some = matching.splice(0, limit - tasks.length);
      const found = await mapConcurrently(some, concurrency, (row) => findTask(store, row));
      tasks.push(...found.filter((task) => task !== undefined).filter((task) => isShown(task)));
      if (tasks.length >= limit) return { tasks, after: some.at(-1)?.key };
    }
    seen += rows.length;
    last = rows.at(-1)?.key;
    const isEnd = rows.length < rowsAtATime || (rows.at(-1)?.acceptedAtMs ?? 0) < (filter.sinceMs ?? 0);
    if (isEnd) return { tasks, after: undefined };
  }
  return { tasks, after: last };

  function isShown(task: Task): boolean {
    return (filter.state === undefined || task.state === filter.state) && mayRead(task);
  }
}

function matches(row: ListedTask, { account, application, user, operation, sinceMs }: TaskFilter): boolean {
  return (
    (account === undefined || row.accounts.includes(account)) &&
    (application === undefined || row.applications.includes(application)) &&
    (user === undefined || row.user === user) &&
    (operation === undefined || row.operations.includes(operation)) &&
    (sinceMs === undefined || row.acceptedAtMs >= sinceMs)
  );
}

/** The task of a row. Rows of submissions that lost their race point to none, and those of a task that was started again to another. */
export async function findTask(
  store: Pick<TaskStore, 'find'>,
  { taskId, key }: OpenRow,
): Promise<Task | undefined> {
  const task = await store.find(taskId);
  return task?.openRow === key ? task : undefined;
}

/** What a task was asked to do, as its first entry says it: operations by name, their applications, and objects by full name. */
export interface Asked {
  readonly operations: readonly string[];
  readonly applications: readonly string[];
  readonly objects: readonly string[];
}

/** What a task was asked to do. Its caller's application comes first. */
export function listAsked({ journal, caller }: Pick<Task, 'journal' | 'caller'>): Asked {
  const value = asJsonObject(journal[0]?.value);
  const getTexts = (name: keyof Asked): readonly string[] =>
    asJsonArray(value?.[name]).flatMap((text) => asString(text) ?? []);
  const applications = new Set([
    ...(caller.application ? [caller.application] : []),
    ...getTexts('applications'),
  ]);
  return {
    operations: getTexts('operations'),
    applications: [...applications],
    objects: getTexts('objects'),
  };
}

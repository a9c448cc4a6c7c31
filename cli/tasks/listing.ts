import type { Command } from 'commander';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { CliError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { type Cell, printTable } from '../table.ts';
import { formatDuration } from '../time.ts';
import { awaitTask, listFailures, listHistory } from './task-end.ts';

/** Which tasks to list, by the names of the API's parameters. */
export interface ListingOptions {
  readonly account?: string;
  readonly application?: string;
  readonly operation?: string;
  readonly state?: string;
  readonly by?: string;
  readonly limit: string;
}

const styles = { STARTED: 'yellow', COMPLETED: 'green', FAILED: 'red', FAILED_RETRYABLE: 'red' } as const;

/** Lists tasks of the last seven days, newest first. */
export async function listTasks(
  context: CliContext,
  options: ListingOptions,
  command: Command,
): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const { by, ...filter } = options;
  const given = Object.entries({ ...filter, user: by }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const query = new URLSearchParams(given);
  const page = await terminal.wait(
    () => 'reading the tasks',
    () => client.get(`/tasks?${query}`),
  );
  const tasks = asJsonArray(getPath(page, 'tasks'));
  if (isJsonWanted(command)) return terminal.printJson(tasks);
  printTable(terminal, {
    headings: [
      'ID',
      'STATE',
      'BEGAN',
      'TOOK',
      'ACCOUNT',
      'APPLICATION',
      'USER',
      'OPERATIONS',
      'OBJECTS',
      'STATUS',
    ],
    rows: tasks.map(toRow),
  });
}

function toRow(task: JsonValue): Cell[] {
  const text = (name: string) => asString(getPath(task, name)) ?? '';
  const list = (name: string) => asJsonArray(getPath(task, name)).map(String).join(',');
  const state = text('state');
  const style = Object.hasOwn(styles, state) ? styles[state as keyof typeof styles] : undefined;
  return [
    text('id'),
    style === undefined ? state : { text: state, style },
    formatAge(getPath(task, 'startTimeMs')),
    formatDuration(Number(getPath(task, 'durationMs') ?? 0)),
    text('account'),
    list('applications'),
    text('user'),
    list('operations'),
    list('objects'),
    text('failure') || text('status'),
  ];
}

function formatAge(ms: JsonValue | undefined): string {
  return typeof ms === 'number' ? `${formatDuration(Math.max(0, Date.now() - ms))} ago` : '';
}

/** Shows a task; with `follow` until it has ended. @returns the exit code: 1 where it failed */
export async function showTask(
  context: CliContext,
  { id, follow }: { readonly id: string; readonly follow?: boolean },
  command: Command,
): Promise<0 | 1> {
  const { terminal } = context;
  const client = openClient(context, command);
  const isJson = isJsonWanted(command);
  const task = follow
    ? await awaitTask({ client, terminal, id, isShown: !isJson })
    : await terminal.wait(
        () => `reading task ${id}`,
        () => client.get(`/task/${encodeURIComponent(id)}`),
      );
  if (isJson) terminal.printJson(task);
  else if (follow !== true) for (const line of listHistory(task)) terminal.print(line);
  const failures = listFailures(task);
  if (!isJson) {
    for (const failure of failures) terminal.tell(`${terminal.styleTold('red', 'failed:')} ${failure}`);
    if (getPath(task, 'status', 'completed') !== true)
      terminal.print(asString(getPath(task, 'status', 'status')) ?? '');
  }
  return failures.length > 0 ? 1 : 0;
}

/** Cancels a task: one that no worker has ends at once, another one before its next step. */
export async function cancelTask(context: CliContext, id: string, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const { body } = await terminal.wait(
    () => `cancelling task ${id}`,
    () => client.send(`/task/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  );
  if (isJsonWanted(command)) return terminal.printJson(body);
  if (listFailures(body).some((failure) => /cancelled by /.test(failure)))
    return terminal.print(`task ${id} cancelled`);
  if (getPath(body, 'status', 'completed') === true)
    throw new CliError(`task ${id} had ended before`, { next: `busdriver task ${id}` });
  terminal.print(`task ${id} ends before its next step`);
  terminal.tell(`Next: busdriver task ${id} --follow`);
}

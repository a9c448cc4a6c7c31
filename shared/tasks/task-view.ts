import type { TaskSummaryView, TaskView } from '#contract/answers/tasks.ts';
import { asJsonObject, asString } from '#core/json.ts';
import { listAsked } from './list-tasks.ts';
import { isFinished, type Task } from './task.ts';
import { getStatusLine, listHistory } from './task-progress.ts';

/** The task as `GET /task/{id}` shows it, as JSON text: results are stored as text and inserted unparsed, which keeps their doubles. */
export function toTaskView(task: Task, nowMs: number): string {
  const history = listHistory(task);
  const results = task.journal.flatMap((entry) => entry.results ?? []);
  const outputs = task.journal.flatMap((entry) => entry.outputs ?? []);
  const rest: Pick<TaskView, 'history' | 'id' | 'outputs' | 'ownerId' | 'requestId'> = {
    history,
    id: task.id,
    outputs,
    ownerId: task.ownerId,
    requestId: task.requestId,
  };
  const end: Omit<TaskView, 'resultObjects' | keyof typeof rest> = {
    retryable: task.state === 'FAILED_RETRYABLE',
    sagaIds: [],
    startTimeMs: task.acceptedAtMs,
    status: toStatusView(task, nowMs),
  };
  return `{${formatMembers(rest)},"resultObjects":[${results.join(',')}],${formatMembers(end)}}`;
}

/** The `status` object: where the task is, and the flags that Orca polls. */
function toStatusView(task: Task, nowMs: number): TaskView['status'] {
  const { phase, status } = getStatusLine(task, nowMs);
  const finished = isFinished(task);
  return {
    complete: finished,
    completed: finished,
    failed: task.state === 'FAILED' || task.state === 'FAILED_RETRYABLE',
    phase,
    retryable: task.state === 'FAILED_RETRYABLE',
    status,
  };
}

/** Characters of a failure's message in a list. */
const failureMax = 1_000;

/** The task as `GET /tasks` lists it. */
export function toTaskSummary(task: Task, nowMs: number): TaskSummaryView {
  const { operations, applications, objects } = listAsked(task);
  const endedAtMs = isFinished(task) ? (task.endedAtMs ?? task.changedAtMs) : undefined;
  const failure = findFailure(task);
  return {
    id: task.id,
    state: task.state,
    status: getStatusLine(task, nowMs).status,
    ...{ account: task.account, accounts: task.accounts, user: task.caller.user ?? '' },
    ...{ operations, applications, objects },
    startTimeMs: task.acceptedAtMs,
    ...(endedAtMs !== undefined && { endTimeMs: endedAtMs }),
    durationMs: Math.max(0, (endedAtMs ?? nowMs) - task.acceptedAtMs),
    ...(failure !== undefined && { failure }),
  };
}

/** The message of the first operation that failed. */
function findFailure({ journal }: Task): string | undefined {
  const text = journal
    .flatMap(({ results = [] }) => results)
    .find((each) => each.startsWith('{"type":"EXCEPTION"'));
  const message = text && asString(asJsonObject(JSON.parse(text))?.['message']);
  return message?.slice(0, failureMax);
}

function formatMembers(part: Partial<TaskView>): string {
  return JSON.stringify(part).slice(1, -1);
}

import type { TaskView } from '#contract/answers/tasks.ts';
import { type HistoryLine, isFinished, type Task } from './task.ts';

/** The task as `GET /task/{id}` shows it, as JSON text: results are stored as text and inserted unparsed, which keeps their doubles. */
export function toTaskView(task: Task): string {
  const history = task.journal.flatMap((entry) => entry.lines);
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
    status: toStatusView(task, history),
  };
  return `{${formatMembers(rest)},"resultObjects":[${results.join(',')}],${formatMembers(end)}}`;
}

/** The `status` object: the last history line, and the flags that Orca polls. */
function toStatusView(task: Task, history: readonly HistoryLine[]): TaskView['status'] {
  const last = history.at(-1);
  const finished = isFinished(task);
  return {
    complete: finished,
    completed: finished,
    failed: task.state === 'FAILED' || task.state === 'FAILED_RETRYABLE',
    phase: last?.phase ?? '',
    retryable: task.state === 'FAILED_RETRYABLE',
    status: last?.status ?? '',
  };
}

function formatMembers(part: Partial<TaskView>): string {
  return JSON.stringify(part).slice(1, -1);
}

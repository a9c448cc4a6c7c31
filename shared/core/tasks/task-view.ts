import { type HistoryLine, isFinished, type Task } from './task.ts';

/**
 * The task as `GET /task/{id}` shows it, as JSON text: result objects are stored as text and pasted in, so that their
 * doubles survive.
 */
export function toTaskView(task: Task): string {
  const history = task.journal.flatMap((entry) => entry.lines);
  const results = task.journal.flatMap((entry) => entry.results ?? []);
  const outputs = task.journal.flatMap((entry) => entry.outputs ?? []);
  const rest = JSON.stringify({
    history,
    id: task.id,
    outputs,
    ownerId: task.ownerId,
    requestId: task.requestId,
  }).slice(1, -1);
  const end = JSON.stringify({
    retryable: task.state === 'FAILED_RETRYABLE',
    sagaIds: [],
    startTimeMs: task.acceptedAtMs,
    status: toStatusView(task, history),
  }).slice(1, -1);
  return `{${rest},"resultObjects":[${results.join(',')}],${end}}`;
}

/** The `status` object: the last history line, and the flags that Orca polls. */
function toStatusView(task: Task, history: readonly HistoryLine[]): object {
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

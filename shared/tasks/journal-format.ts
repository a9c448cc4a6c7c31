import type { OperationFailureView } from '#contract/answers/tasks.ts';
import { type JournalEntry, orchestrationPhase, type TaskStatus } from './task.ts';

/** Raised whenever the keys or the values of an operation's journal change their meaning: who goes on with a task must have its own. */
export const journalFormat = 1;

/** Format of the journals of tasks that do not tell it: those of releases that did not remember it. */
export const firstJournalFormat = 1;

/** Milliseconds for which a task waits for a worker that has the format of its journal, from when it was last held. */
export const formatWaitMs = 10 * 60 * 1000;

/** Whether a task was begun with another format than this release has. */
export function isForeign(task: Pick<TaskStatus, 'journalFormat'>): boolean {
  return task.journalFormat !== undefined && task.journalFormat !== journalFormat;
}

/** The last journal entry of a task that nobody could go on with: which format it has, and what is to be installed. */
export function toForeignEntry(format: number): JournalEntry {
  const message =
    `The task was begun with journal format ${format}, this release has ${journalFormat}, and no worker with ${format} ` +
    `took it within ${formatWaitMs / 60_000} minutes. What was done before stays done: look at it before you submit the ` +
    `operation again. To finish such tasks, install a release with journal format ${format} until none is left`;
  const failure: OperationFailureView = {
    type: 'EXCEPTION',
    operation: 'Orchestration',
    message,
    cause: message,
    details: [{ message, retryable: false }],
  };
  return {
    key: 'foreign',
    lines: [{ phase: orchestrationPhase, status: `Orchestration failed: ${message}` }],
    results: [JSON.stringify(failure)],
  };
}

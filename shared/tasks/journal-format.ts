import { type JournalEntry, type TaskStatus, toFailedEntry } from './task.ts';

/** Raise it whenever keys or values of an operation's journal change their meaning: only workers of a task's format go on with it. */
export const journalFormat = 1;

/** Format of the journals of tasks without one, from releases that did not store it. */
export const firstJournalFormat = 1;

/** Milliseconds for which a task waits for a worker with its journal's format, from when it was last held. */
export const formatWaitMs = 10 * 60 * 1000;

/** Whether a task was begun with another format than this release has. */
export function isForeign(task: Pick<TaskStatus, 'journalFormat'>): boolean {
  return task.journalFormat !== undefined && task.journalFormat !== journalFormat;
}

/** The last journal entry of a task that no worker could go on with: its format, and the release to install. */
export function toForeignEntry(format: number): JournalEntry {
  const message =
    `The task was begun with journal format ${format}, this release has ${journalFormat}, and no worker with ${format} ` +
    `took it within ${formatWaitMs / 60_000} minutes. What was done before stays done: look at it before you submit the ` +
    `operation again. To finish such tasks, install a release with journal format ${format} until none is left`;
  return toFailedEntry('foreign', message, [{ message, retryable: false }]);
}

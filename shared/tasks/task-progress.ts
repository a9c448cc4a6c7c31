import {
  type HistoryLine,
  isFinished,
  isLeased,
  type JournalEntry,
  leaseDurationMs,
  orchestrationPhase,
  type Task,
} from './task.ts';
import { getStoredWait } from './wait.ts';

/** Milliseconds for which nothing is said of a task that a worker is about to take. */
const soonMs = 2_000;

/** The history of a task: lines of waits with since when, and until when. */
export function listHistory({ journal }: Pick<Task, 'journal'>): HistoryLine[] {
  return journal.flatMap(toLines);
}

/** The status of a task: the last line of its history, or what it waits for before a worker goes on with it. */
export function getStatusLine(task: Task, nowMs: number): HistoryLine {
  const present = describePresent(task, nowMs);
  if (present !== undefined) return { phase: orchestrationPhase, status: present };
  return listHistory(task).at(-1) ?? { phase: '', status: '' };
}

/** The lines of an entry. That of a wait is its last. */
function toLines({ key, value, lines }: JournalEntry): readonly HistoryLine[] {
  const wait = getStoredWait(key, value);
  const last = lines.at(-1);
  if (wait === undefined || last === undefined) return lines;
  const status = `${last.status} ${formatTimes(wait.sinceMs, wait.deadlineMs)}`;
  return [...lines.slice(0, -1), { ...last, status }];
}

/** What an open task waits for that its journal does not say; undefined while it runs. */
function describePresent(task: Task, nowMs: number): string | undefined {
  const { account, attempts, cancelledBy, changedAtMs, inbox, leaseUntilMs, ownerId } = task;
  if (isFinished(task) || task.unreadable !== undefined) return undefined;
  if (cancelledBy !== undefined) return `Cancelled by ${cancelledBy}: it ends before its next step`;
  if (task.isPutDown) return undefined;
  if (isLeased(task, nowMs)) {
    if (nowMs - changedAtMs < leaseDurationMs) return undefined;
    const until = formatTime(leaseUntilMs);
    return `Worker ${ownerId} has made no progress ${formatTimes(changedAtMs)}: if it died, another one takes the task at ${until}`;
  }
  const sinceMs = Math.max(task.acceptedAtMs, changedAtMs, leaseUntilMs);
  if (nowMs - sinceMs < soonMs) return undefined;
  if (inbox !== undefined) {
    return `Waiting for an agent of account ${inbox.account} to take it ${formatTimes(sinceMs, sinceMs + inbox.waitMs)}`;
  }
  const again = attempts > 0 ? `, after ${attempts} that made no progress` : '';
  return `Waiting for a worker, in turn with other tasks of account ${account} ${formatTimes(sinceMs)}${again}`;
}

/** `(since 2026-11-27T09:00:00Z, until 2026-11-27T09:10:00Z)` */
function formatTimes(sinceMs: number, untilMs?: number): string {
  const until = untilMs === undefined ? '' : `, until ${formatTime(untilMs)} at most`;
  return `(since ${formatTime(sinceMs)}${until})`;
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

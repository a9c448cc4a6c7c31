import { type JournalEntry, type OpenRow, type TaskInbox, type TaskState, toFailedEntry } from './task.ts';
import type { Parted } from './task-parts.ts';

/** Milliseconds after its last request for which an agent counts as connected: many times the pause between two requests. */
export const agentSilenceMs = 60_000;

/** What a commit from outside is checked against, and what an agent may see of a task. */
export interface TaskHold extends Parted {
  readonly state: TaskState;
  readonly inbox: TaskInbox | undefined;
  /** Number of its present run. */
  readonly run: number;
  /** Bytes of journal that the task's header holds. */
  readonly inlineBytes: number;
  /** Format of its journal; undefined until it was begun. */
  readonly journalFormat: number | undefined;
  /** Number of commits that left something in its journal. */
  readonly entries: number;
}

/** Tasks that wait for the agents of an account. Like rows of the list of open tasks, its rows must be checked against the tasks. */
export interface InboxStore {
  /** The rows of an account, oldest first. */
  list(account: string, limit: number): Promise<readonly OpenRow[]>;
  /** Removes a row that points to no open task. */
  remove(account: string, row: OpenRow): Promise<void>;
  /** What a committing agent must know of a task; undefined when it is unknown or expired. */
  findHold(taskId: string): Promise<TaskHold | undefined>;
}

/** When an agent of an account was last heard of. */
export interface SeenAgent {
  readonly agentId: string;
  readonly seenAtMs: number;
  /** Whether its session is open, and it was heard of within the last {@link agentSilenceMs}. */
  readonly isConnected: boolean;
}

/** When an agent was last heard of, in words. */
export function describeSeen(seen: SeenAgent | undefined): string {
  if (seen === undefined) return 'none was seen in the last day';
  return `the last one, ${seen.agentId}, was seen at ${new Date(seen.seenAtMs).toISOString()}`;
}

/** The last journal entry of a task for which no agent came. */
export function toUnservedEntry({ account, waitMs }: TaskInbox, seen: SeenAgent | undefined): JournalEntry {
  const last = describeSeen(seen);
  const seconds = Math.round(waitMs / 1000);
  const message = `No agent of account ${account} was connected within ${seconds} s; ${last}`;
  return toFailedEntry('unserved', message);
}

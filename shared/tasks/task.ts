import type { OperationFailureView } from '#contract/answers/tasks.ts';
import { isAhead } from '#core/clock.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { OperationOutput } from './operation.ts';

/** A task's state. `FAILED_RETRYABLE` is set only from outside, by `PATCH /{cloudProvider}/task/{id}`. */
export type TaskState = 'STARTED' | 'COMPLETED' | 'FAILED' | 'FAILED_RETRYABLE';

/** One line of a task's history. */
export interface HistoryLine {
  readonly phase: string;
  readonly status: string;
}

/**
 * What one step left behind, committed at once: its outcome for a later run, its lines for the history, its results. The history of a task
 * is the lines of its entries in order: a line is there exactly when its step is.
 */
export interface JournalEntry {
  /** Names the step within the task; the same on every run of it. */
  readonly key: string;
  readonly lines: readonly HistoryLine[];
  /** Outcome of the step. */
  readonly value?: JsonValue;
  /** Result objects as JSON text: it keeps doubles (`2.0`) that a parse would lose. */
  readonly results?: readonly string[];
  readonly outputs?: readonly OperationOutput[];
}

/** The user of a request, and the ids for it: for logs and events. Values of the `X-SPINNAKER-…` headers, and of W3C's `traceparent`. */
export interface Caller {
  readonly user?: string;
  readonly requestId?: string;
  readonly executionId?: string;
  readonly application?: string;
  readonly traceparent?: string;
}

/** One operation of a request, as submitted. */
export interface SubmittedOperation {
  readonly provider: string;
  readonly name: string;
  readonly description: JsonObject;
}

/** Where a task waits that only agents of an account can run, and for how long. */
export interface TaskInbox {
  readonly account: string;
  /** Milliseconds for which it waits for an agent, from when it was accepted, or its last worker was gone. */
  readonly waitMs: number;
}

/** Consecutive operations of a task that one worker runs. */
export interface TaskPart {
  /** Their number. */
  readonly operations: number;
  /** Where they wait for an agent; undefined when workers of the queue run them. */
  readonly inbox?: TaskInbox | undefined;
}

/** The agent that took a task, and when. */
export interface AgentTake {
  readonly agentId: string;
  readonly atMs: number;
}

/** What is known of a task without its payload. */
export interface Task {
  readonly id: string;
  /** `clientRequestId`; empty when the caller gave none. */
  readonly requestId: string;
  readonly state: TaskState;
  readonly acceptedAtMs: number;
  /** The worker that ran it last: `<random>@<host>`. */
  readonly ownerId: string;
  /** Account of its first operation, and fair-queue group of its messages. */
  readonly account: string;
  /** The accounts of all its operations, each once: callers that may use them may use the task. */
  readonly accounts: readonly string[];
  /** Whether one of them was restricted to groups when the task was accepted: it stays so even when the account is gone. */
  readonly isRestricted: boolean;
  readonly caller: Caller;
  /** How often it was submitted again under the same id; journal keys of earlier runs do not count for this one. */
  readonly run: number;
  /** When it last made progress, milliseconds; for a finished task, when it ended. Exact to a second. */
  readonly changedAtMs: number;
  /** Leases taken since its last progress. */
  readonly attempts: number;
  /** Wall time until which a worker holds it, or it waits, milliseconds; 0 when neither is so. */
  readonly leaseUntilMs: number;
  /** Sort key of its row in the list of open tasks. */
  readonly openRow: string;
  /** The agent that took it last, and when, milliseconds; undefined where none has. */
  readonly taken?: AgentTake | undefined;
  /** When it ended, milliseconds; undefined until then, and for tasks of earlier releases. */
  readonly endedAtMs?: number | undefined;
  /** Where it waits for an agent; undefined when workers of the queue run it. */
  readonly inbox?: TaskInbox | undefined;
  /** Its parts, where it has several: each has a worker of its own, which hands the task over to the next one's. */
  readonly parts?: readonly TaskPart[] | undefined;
  /** Index of the present part. Default 0. */
  readonly part?: number | undefined;
  /** Format of its journal: that of the worker that took its first lease. Undefined until then. */
  readonly journalFormat?: number | undefined;
  /** Whether its payload is stored separately, in chunks. */
  readonly hasChunks: boolean;
  /** Number of its first journal entries whose events the bus has surely taken. It may have taken more. */
  readonly told: number;
  /** Whether it was put down to wait: no worker holds it until its next look. Default false. */
  readonly isPutDown?: boolean | undefined;
  /** The user who cancelled it; undefined where nobody did. No worker takes it from then on. */
  readonly cancelledBy?: string | undefined;
  readonly journal: readonly JournalEntry[];
  /** Why it cannot be read: another release wrote it. It is kept and shown, but cannot be used. Left out for readable tasks. */
  readonly unreadable?: string;
}

/** What the list of open tasks needs of a task: a small part of it, however long its journal is. */
export type TaskStatus = Pick<
  Task,
  | 'id'
  | 'state'
  | 'account'
  | 'leaseUntilMs'
  | 'openRow'
  | 'inbox'
  | 'parts'
  | 'changedAtMs'
  | 'journalFormat'
  | 'cancelledBy'
>;

/** A worker's hold on a task. A commit succeeds only while no later lease was taken. */
export interface Lease {
  readonly taskId: string;
  /** Grows with each lease of the task. */
  readonly fence: number;
  /** Number of commits under this fence: it identifies an applied commit whose answer was lost. */
  sequence: number;
  /** Bytes of journal in the task's header: they decide where the store puts the next entries. */
  inlineBytes: number;
  /** Monotonic time, milliseconds, until which the holder may rely on it; each renewal and commit moves it on. */
  validUntil: number;
}

/** A task with its lease and its submitted operations. */
export interface LeasedTask {
  readonly task: Task;
  readonly lease: Lease;
  /** Whether its store cannot put it down, so that its worker waits. Default false. */
  readonly waitsInPlace?: boolean;
  /** Reads the operations. Rejects when the stored payload is damaged. */
  readOperations(): Promise<readonly SubmittedOperation[]>;
}

/** The operations of a task, and who it belongs to. */
export interface Submission extends Pick<Task, 'accounts' | 'isRestricted'> {
  readonly operations: readonly SubmittedOperation[];
  /** Where it waits for an agent: its first part, where it has several. Default: workers of the queue run it. */
  readonly inbox?: TaskInbox | undefined;
  /** As the task has them. */
  readonly parts?: readonly TaskPart[] | undefined;
}

/** A task to be stored. */
export interface NewTask extends Submission {
  readonly id: string;
  readonly requestId: string;
  readonly account: string;
  readonly caller: Caller;
  /** First entry of its journal. */
  readonly entry: JournalEntry;
}

/** What one conditional update of a leased task does. */
export interface Commit {
  /** Entries to append; they count as progress. */
  readonly entries: readonly JournalEntry[];
  /**
   * `hold` keeps the lease and renews it. `checkpoint` gives it up in good order, which counts as progress. So does `handover`, which
   * leaves the task to the worker of its next part, and `wait`, after which no worker takes the task until its next look. `release` gives
   * it up; `COMPLETED` and `FAILED` end the task.
   */
  readonly next: 'hold' | 'checkpoint' | 'handover' | 'wait' | 'release' | 'COMPLETED' | 'FAILED';
  /** Seconds after which a waiting task is to be looked at again. Default 1. */
  readonly lookSeconds?: number;
  /** The task's `told`, where it has changed. */
  readonly told?: number;
}

/** A row of the list of open tasks. It may be there before or after its task: check it against the task. */
export interface OpenRow {
  readonly taskId: string;
  /** Sort key: rows sort by accept time. */
  readonly key: string;
  readonly acceptedAtMs: number;
}

/** How to take a lease. */
export interface TakeLeaseOptions {
  readonly ownerId: string;
  readonly attempts: number;
  readonly agentId?: string | undefined;
  /**
   * Format of the journals that the worker reads and writes: a task begun with another one is refused, and one not begun gets it. `any` is
   * for callers that run nothing, but end a task. Default: this release's.
   */
  readonly journalFormat?: number | 'any' | undefined;
}

/** Tasks in a durable store. Every change is one conditional write of one item. */
export interface TaskStore {
  /**
   * Stores a task unless one with its id exists. The conditional write of its header removes duplicates: of any number of simultaneous
   * calls exactly one returns `accepted: true`, and all return the same task.
   */
  accept(task: NewTask): Promise<{ readonly task: Task; readonly accepted: boolean }>;
  /** The task with its whole journal; undefined when unknown or expired. */
  find(id: string): Promise<Task | undefined>;
  /** The status of a task; undefined when unknown or expired. */
  findStatus(id: string): Promise<TaskStatus | undefined>;
  /**
   * Takes the lease on an open task that no worker holds; undefined when it is held, finished or unknown, or its journal has another
   * format.
   *
   * @param options.attempts how much its attempt counter grows.
   * @param options.agentId the agent that takes it. Default: the worker is no agent.
   */
  takeLease(id: string, options: TakeLeaseOptions): Promise<LeasedTask | undefined>;
  /**
   * Renews the lease.
   *
   * @param signal aborts the renewal; whether it was made is then unknown.
   * @throws LeaseLostError when another worker has the task, it was ended, or the lease was given up.
   */
  renewLease(lease: Lease, signal?: AbortSignal): Promise<void>;
  /**
   * One conditional update: lease check, journal, history, state. A task that was cancelled meanwhile ends with it, unless it ends the task.
   *
   * @throws LeaseLostError; TaskCancelledError where it has ended so
   */
  commit(lease: Lease, commit: Commit): Promise<void>;
  /** Submits a task in state FAILED_RETRYABLE again, with other operations or, left out, with its own; undefined in other states. */
  restart(id: string, entry: JournalEntry, submission?: Submission): Promise<Task | undefined>;
  /** Fails an open task from outside and fences its worker out; undefined when it is not open. */
  fail(id: string, state: 'FAILED' | 'FAILED_RETRYABLE', entry: JournalEntry): Promise<Task | undefined>;
  /**
   * Has no worker take an open task any more. One that no worker holds ends at once; else it ends with its worker's next commit.
   *
   * @param user who asks for it
   * @returns the task as it is then; undefined when it is not open
   */
  cancel(id: string, user: string): Promise<Task | undefined>;
  /**
   * Has agents find an open task again whose row in its account's inbox may be missing: the worker that handed it over may have died, or
   * been so late that it removed a newer row.
   */
  repairInbox(task: TaskStatus): Promise<void>;
  /** Deletes the payload of a finished task, then its row in the list of open tasks. Repeating it is harmless. */
  removeOpen(task: Task): Promise<void>;
  /** Deletes a row of the list that points to no open task. */
  removeOpenRow(row: OpenRow): Promise<void>;
  /** The open tasks, oldest first, at most `limit` rows. @param after key of the row to begin after. Default: at the oldest */
  listOpen(limit: number, after?: string): Promise<readonly OpenRow[]>;
}

/** The part of the store that running a task needs. */
export type WorkerStore = Pick<TaskStore, 'takeLease' | 'renewLease' | 'commit' | 'removeOpen'>;

/** Thrown by a commit or renewal when another worker holds the task, or when it was ended from outside. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError';
}

/** Thrown by a commit that ended a cancelled task: what follows a task's end is left to do. */
export class TaskCancelledError extends LeaseLostError {
  override name = 'TaskCancelledError';
  readonly task: Task;

  constructor(task: Task) {
    super(`task ${task.id} was cancelled`);
    this.task = task;
  }
}

/** Milliseconds of a lease unless it is renewed. */
export const leaseDurationMs = 30_000;

/** Milliseconds before its lease ends at which a worker stops relying on it, so that none of its requests outlives it. */
export const leaseMarginMs = 10_000;

/** Milliseconds for which a row without a task, or beside a retryable one, stays: its writer may be about to write the task. */
export const staleRowAgeMs = 10 * 60 * 1000;

/** Leases without progress that a task may have before {@link isSpent} may fail it. */
export const attemptsMax = 10;

/**
 * Milliseconds without progress before {@link isSpent} may fail a task: attempts alone do not show that a task ends its workers, because
 * in an outage of DynamoDB some of them take the lease and can write nothing more.
 */
export const noProgressMs = 15 * 60 * 1000;

/** Milliseconds for which a task is kept after its last change: 7 days. */
export const taskRetentionMs = 7 * 24 * 3600 * 1000;

/** Phase of the lines that belong to no operation. */
export const orchestrationPhase = 'ORCHESTRATION';

/** Whether a worker holds a task. */
export function isLeased({ leaseUntilMs }: Pick<Task, 'leaseUntilMs'>, nowMs: number): boolean {
  return isAhead(leaseUntilMs, nowMs, leaseDurationMs);
}

/** Whether to fail a task that no worker can run: more than {@link attemptsMax} leases, and {@link noProgressMs}, without progress. */
export function isSpent(
  { attempts, changedAtMs }: Pick<Task, 'attempts' | 'changedAtMs'>,
  nowMs: number,
): boolean {
  return attempts > attemptsMax && nowMs - changedAtMs >= noProgressMs;
}

/** The last journal entry of a task that fails as a whole, with the EXCEPTION object that Orca and Deck show. */
export function toFailedEntry(
  key: string,
  message: string,
  details?: OperationFailureView['details'],
): JournalEntry {
  const failure: OperationFailureView = {
    type: 'EXCEPTION',
    operation: 'Orchestration',
    message,
    cause: message,
    ...(details && { details }),
  };
  const line = { phase: orchestrationPhase, status: `Orchestration failed: ${message}` };
  return { key, lines: [line], results: [JSON.stringify(failure)] };
}

/** The last journal entry of a task that a user cancelled. */
export function toCancelledEntry(user: string): JournalEntry {
  return toFailedEntry('cancelled', `cancelled by ${user}`);
}

/** True once the task has ended, either way. */
export function isFinished(task: Pick<Task, 'state'>): boolean {
  return task.state !== 'STARTED';
}

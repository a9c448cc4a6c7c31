import { BreakerOpenError } from '#core/breaker.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { DeadLetterReason } from '#core/metrics.ts';
import { formatWaitMs, isForeign, journalFormat, toForeignEntry } from './journal-format.ts';
import { settleTask, type TaskSystem, trySettleTask } from './process-message.ts';
import { toAbandonedEntry } from './run-task.ts';
import {
  attemptsMax,
  isFinished,
  isLeased,
  type JournalEntry,
  type OpenRow,
  staleRowAgeMs,
  type TaskInbox,
  type TaskStatus,
} from './task.ts';
import { type SeenAgent, toUnservedEntry } from './task-inbox.ts';

/** Rows read at a time. */
const pageRows = 1_000;

/** Rows handled at once. */
const concurrency = 8;

/** Rows of finished tasks, and of none, that one sweep remembers until all open tasks are sent for. */
const leftRowsMax = 50_000;

/** Milliseconds that a sweep takes at most, but for the calls that are under way then: it runs each minute. */
export const sweepMs = 40_000;

/** Milliseconds after which a sweep sends for no more tasks, and settles what it has found. */
export const resendMs = 25_000;

/** What a sweep needs. */
export interface SweepSystem extends TaskSystem {
  /** When an agent of an account was last heard of. Default: nobody knows of any. */
  findSeenAgent?(account: string): Promise<SeenAgent | undefined>;
}

/** Where a sweep begins: at the oldest row, or where the one before it had to stop. */
export interface SweepCursor {
  /** Key of the last row that was looked at; undefined for the beginning. */
  after?: string | undefined;
}

/** What a sweep did, for the log and the tests. */
export interface SweepReport {
  /** Hints sent for tasks that wait, or whose worker may have died. */
  readonly resent: number;
  /** Finished tasks whose end was told late. */
  readonly settled: number;
  /** Rows that pointed to no open task. */
  readonly removed: number;
  /** Rows that could not be dealt with; the log says why, and the next sweep tries again. */
  readonly failed: number;
  /** Tasks that were failed since no agent of their account came. */
  readonly unserved: number;
  /** Tasks that were failed since no worker had the format of their journal. */
  readonly foreign: number;
}

/** A row, and what is to be done with it once all open tasks are sent for. */
interface LeftRow {
  readonly row: OpenRow;
  readonly work: 'settle' | 'remove';
}

/**
 * Goes through the list of open tasks: first it sends a new message for each that is open (for a held one delayed until its lease may
 * lapse); then it ends what a worker left unfinished after completion, and removes rows without a task. So nothing that finished
 * tasks wait for, such as the bus, keeps an open one from going on. While the queue or the bus is away, the other one is served.
 *
 * @param cursor where to begin. It is set to where the next sweep is to go on: behind the last row when the time was over before
 *   the end of the list, so that each row has its turn however long the list is.
 */
export async function sweepTasks(system: SweepSystem, cursor: SweepCursor = {}): Promise<SweepReport> {
  const sweep = new Sweep(system);
  await sweep.resendOpen(cursor);
  await sweep.dealWithOthers();
  return sweep.report;
}

class Sweep {
  readonly report = { resent: 0, settled: 0, removed: 0, failed: 0, unserved: 0, foreign: 0 };
  readonly #system: SweepSystem;
  readonly #startedAt: number;
  readonly #left: LeftRow[] = [];
  /** Accounts whose agents were told. */
  readonly #told = new Set<string>();
  readonly #seen = new Map<string, Promise<SeenAgent | undefined>>();
  /** What was found to be away: nothing more is asked of it in this sweep. */
  readonly #away = { queue: false, bus: false };

  constructor(system: SweepSystem) {
    this.#system = system;
    this.#startedAt = system.clock.monotonic();
  }

  /** Looks at each row, and sends for what is open. */
  async resendOpen(cursor: SweepCursor): Promise<void> {
    for (;;) {
      const rows = await this.#system.store.listOpen(pageRows, cursor.after);
      if (rows.length === 0) {
        cursor.after = undefined;
        return;
      }
      const looked = await this.#forEach(rows, resendMs, (row) => this.#look(row));
      cursor.after = rows[looked - 1]?.key ?? cursor.after;
      if (looked < rows.length || this.#left.length > leftRowsMax) return;
    }
  }

  /** Settles finished tasks, and removes rows without one. */
  async dealWithOthers(): Promise<void> {
    await this.#forEach(this.#left, sweepMs, async ({ row, work }) => {
      if (work === 'remove') await this.#remove(row);
      else if (!this.#away.bus) await this.#settle(row);
    });
  }

  /** Does something for each, some at once, until the time is over. @returns for how many it was done: the first ones. */
  async #forEach<T>(items: readonly T[], endMs: number, work: (item: T) => Promise<void>): Promise<number> {
    const { clock } = this.#system;
    let next = 0;
    const workers = Array.from({ length: concurrency }, async () => {
      while (next < items.length && clock.monotonic() - this.#startedAt < endMs) {
        const item = items[next];
        next += 1;
        if (item !== undefined) await work(item);
      }
    });
    await Promise.all(workers);
    return next;
  }

  async #look(row: OpenRow): Promise<void> {
    const { store, clock } = this.#system;
    await this.#try(row, async () => {
      const task = await store.findStatus(row.taskId);
      const now = clock.now();
      if (task?.openRow !== row.key) {
        // A young row may be of somebody who is about to submit the task, or to submit it anew.
        const isAwaited = task === undefined || task.state === 'FAILED_RETRYABLE';
        if (isAwaited && now - row.acceptedAtMs < staleRowAgeMs) return;
        this.#left.push({ row, work: 'remove' });
      } else if (isFinished(task)) this.#left.push({ row, work: 'settle' });
      else if (isForeign(task) && (await this.#endForeign(task, row))) return;
      else if (task.inbox !== undefined) await this.#awaitAgent(task, task.inbox, row);
      else if (!this.#away.queue) await this.#resend(task, now);
    });
  }

  async #resend(task: TaskStatus, now: number): Promise<void> {
    try {
      const { id: taskId, account } = task;
      const delaySeconds = getDelaySeconds(task, now);
      await this.#system.queue.send({ taskId, account, delaySeconds });
      this.report.resent += 1;
    } catch (error) {
      this.#away.queue ||= error instanceof BreakerOpenError;
      throw error;
    }
  }

  /**
   * Fails a task that nobody took in time who has the format of its journal. Until then it is sent for as ever: while releases change, workers
   * of both are there.
   *
   * @returns whether it was failed
   */
  async #endForeign(task: TaskStatus, { acceptedAtMs }: OpenRow): Promise<boolean> {
    const { id: taskId, account, journalFormat: format = journalFormat } = task;
    const waitedMs = this.#system.clock.now() - Math.max(acceptedAtMs, task.leaseUntilMs, task.changedAtMs);
    this.#system.log.warn('a task was begun with another journal format than this release has', {
      ...{ taskId, account, format, own: journalFormat, waitedMs },
    });
    if (waitedMs < formatWaitMs || !(await this.#end(task, toForeignEntry(format)))) return false;
    this.report.foreign += 1;
    return true;
  }

  /** Fails a task that nobody holds: by its lease, so that a worker that comes at the last moment keeps it. @returns whether it did */
  async #end(task: TaskStatus, entry: JournalEntry): Promise<boolean> {
    const { store, randomness, host } = this.#system;
    const ownerId = `${randomness.id()}@${host}`;
    const leased = await store.takeLease(task.id, { ownerId, attempts: 0, journalFormat: 'any' });
    if (leased === undefined) return false;
    await store.commit(leased.lease, { entries: [entry], next: 'FAILED' });
    await settleTask(this.#system, { ...leased.task, state: 'FAILED' });
    return true;
  }

  /** Tells the agents of a task that nobody holds, and fails it where none came in time, and none is connected. */
  async #awaitAgent(task: TaskStatus, inbox: TaskInbox, { acceptedAtMs }: OpenRow): Promise<void> {
    const system = this.#system;
    if (!isLeased(task, system.clock.now())) {
      if (task.parts !== undefined) await system.store.repairInbox(task);
      await this.#tellAgents(inbox.account);
    }
    const sinceMs = Math.max(acceptedAtMs, task.leaseUntilMs, task.changedAtMs);
    if (system.clock.now() - sinceMs < inbox.waitMs) return;
    const seen = await this.#findSeen(inbox.account);
    if (seen?.isConnected) return;
    if (await this.#end(task, toUnservedEntry(inbox, seen))) this.report.unserved += 1;
  }

  /** Once for each account: who is told asks for all that waits. */
  async #tellAgents(account: string): Promise<void> {
    if (this.#told.has(account)) return;
    this.#told.add(account);
    await this.#system.hints?.send({ kind: 'TASK', account, id: '' });
  }

  /** Looked up once for each account. */
  #findSeen(account: string): Promise<SeenAgent | undefined> {
    const seen =
      this.#seen.get(account) ?? this.#system.findSeenAgent?.(account) ?? Promise.resolve(undefined);
    this.#seen.set(account, seen);
    return seen;
  }

  async #remove(row: OpenRow): Promise<void> {
    await this.#try(row, async () => {
      await this.#system.store.removeOpenRow(row);
      this.report.removed += 1;
    });
  }

  async #settle(row: OpenRow): Promise<void> {
    const { store } = this.#system;
    await this.#try(row, async () => {
      const task = await store.find(row.taskId);
      // Submitted anew since: its next end has a row of its own.
      if (task === undefined || task.openRow !== row.key || !isFinished(task)) return;
      try {
        await trySettleTask(this.#system, task);
        this.report.settled += 1;
      } catch (error) {
        this.#away.bus ||= error instanceof BreakerOpenError;
        throw error;
      }
    });
  }

  /** A row that cannot be dealt with is left for the next sweep, and keeps no other from its turn. */
  async #try(row: OpenRow, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.report.failed += 1;
      this.#system.log.error('an open task could not be swept', {
        taskId: row.taskId,
        cause: getErrorMessage(error),
      });
    }
  }
}

/** A live lease is waited for: if its worker died, the message arrives right after it lapsed. */
function getDelaySeconds(task: TaskStatus, now: number): number {
  return isLeased(task, now) ? Math.ceil((task.leaseUntilMs - now) / 1000) + 1 : 0;
}

/**
 * Deals with a message that no worker could take after all its deliveries. The task is failed only when its own attempts are
 * spent and nobody holds it; otherwise it stays open for the sweeper.
 *
 * @param deliveries how many deliveries of the message failed.
 * @returns why. A letter counts as attempts of its task: the next one for it finds it `unended`.
 */
export async function settleDeadLetter(
  system: TaskSystem,
  taskId: string,
  deliveries: number,
): Promise<DeadLetterReason> {
  const ownerId = `${system.randomness.id()}@${system.host}`;
  const leased = await system.store.takeLease(taskId, {
    ownerId,
    attempts: deliveries,
    journalFormat: 'any',
  });
  if (leased === undefined) return 'settled';
  const { task, lease } = leased;
  const spent = task.attempts >= attemptsMax;
  const entries = spent ? [toAbandonedEntry(task.attempts)] : [];
  await system.store.commit(lease, { entries, next: spent ? 'FAILED' : 'release' });
  const { account, caller, attempts } = task;
  system.log.error('a task could not be run', { taskId, account, ...caller, attempts, failed: spent });
  if (spent) await settleTask(system, { ...task, state: 'FAILED' });
  return attempts > deliveries ? 'unended' : 'unbegun';
}

import { BreakerOpenError } from '#core/breaker.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { DeadLetterReason } from '#core/metrics.ts';
import { cancelTask } from './cancel-task.ts';
import { formatWaitMs, isForeign, journalFormat, toForeignEntry } from './journal-format.ts';
import { settleTask, type TaskSystem, trySettleTask } from './process-message.ts';
import { toAbandonedEntry } from './run-task.ts';
import {
  isFinished,
  isLeased,
  isSpent,
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

/** Rows of finished and missing tasks that one sweep remembers until all open tasks are sent for. */
const leftRowsMax = 50_000;

/** Milliseconds that a sweep takes at most, apart from calls under way: it runs each minute. */
export const sweepMs = 40_000;

/** Milliseconds after which a sweep sends for no more tasks, and settles those it has found. */
export const resendMs = 25_000;

interface SweepSystem extends TaskSystem {
  /** When an agent of an account was last heard of. Default: unknown. */
  findSeenAgent?(account: string): Promise<SeenAgent | undefined>;
}

/** Where a sweep begins: at the oldest row, or where the previous one had to stop. */
export interface SweepCursor {
  /** Key of the last row looked at; undefined for the beginning. */
  after?: string | undefined;
}

interface SweepReport {
  /** Messages sent for tasks that wait, or whose worker may have died. */
  readonly resent: number;
  /** Finished tasks whose end was reported late. */
  readonly settled: number;
  /** Rows that pointed to no open task. */
  readonly removed: number;
  /** Rows that failed; the log says why, and the next sweep tries again. */
  readonly failed: number;
  /** Tasks failed since no agent of their account came. */
  readonly unserved: number;
  /** Tasks failed since no worker had the format of their journal. */
  readonly foreign: number;
}

/** A row to be handled once all open tasks are sent for, and how. */
interface LeftRow {
  readonly row: OpenRow;
  readonly work: 'settle' | 'remove';
}

/**
 * Goes through the list of open tasks. First it sends a new message for each open one (for a held one delayed until its lease may lapse).
 * Then it ends what workers left unfinished after completion, and removes rows without a task. So nothing that finished tasks wait for,
 * such as the bus, delays open ones. While the queue or the bus is unavailable, the other one is used.
 *
 * @param cursor where to begin. It is set to where the next sweep continues: after the last row when time was over before the end of the
 *   list, so that each row has its turn however long the list is.
 */
export async function sweepTasks(system: SweepSystem, cursor: SweepCursor = {}): Promise<SweepReport> {
  const sweep = new Sweep(system);
  await sweep.resendOpen(cursor);
  await sweep.dealWithOthers();
  return sweep.report;
}

/** Milliseconds of a redrive at most: a caller waits for it. */
const redriveMs = 12_000;

/** Sends for all open tasks now, oldest first, as the next sweep would. */
export async function redriveTasks(
  system: SweepSystem,
): Promise<{ readonly sent: number; readonly failed: number; readonly isComplete: boolean }> {
  const sweep = new Sweep(system, { onlySends: true });
  const cursor: SweepCursor = {};
  await sweep.resendOpen(cursor, redriveMs);
  const { resent: sent, failed } = sweep.report;
  return { sent, failed, isComplete: cursor.after === undefined };
}

class Sweep {
  readonly report = { resent: 0, settled: 0, removed: 0, failed: 0, unserved: 0, foreign: 0 };
  readonly #system: SweepSystem;
  readonly #onlySends: boolean;
  readonly #startedAt: number;
  readonly #left: LeftRow[] = [];
  /** Accounts whose agents were notified. */
  readonly #told = new Set<string>();
  readonly #seen = new Map<string, Promise<SeenAgent | undefined>>();
  /** What was unavailable: nothing more is asked of it in this sweep. */
  readonly #away = { queue: false, bus: false };

  /** @param options.onlySends whether it ends no task, not even one that nobody can run. Default false */
  constructor(system: SweepSystem, { onlySends = false } = {}) {
    this.#system = system;
    this.#onlySends = onlySends;
    this.#startedAt = system.clock.monotonic();
  }

  /** Looks at each row, and sends for open tasks. */
  async resendOpen(cursor: SweepCursor, endMs = resendMs): Promise<void> {
    for (;;) {
      const rows = await this.#system.store.listOpen(pageRows, cursor.after);
      if (rows.length === 0) {
        cursor.after = undefined;
        return;
      }
      const looked = await this.#forEach(rows, endMs, (row) => this.#look(row));
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

  /** Does `work` for each, some at once, until time is over. @returns for how many it was done: the first ones. */
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
        // A young row may be of a request that is about to submit the task, or to submit it again.
        const isAwaited = task === undefined || task.state === 'FAILED_RETRYABLE';
        if (isAwaited && now - row.acceptedAtMs < staleRowAgeMs) return;
        this.#left.push({ row, work: 'remove' });
      } else if (isFinished(task)) this.#left.push({ row, work: 'settle' });
      else if (!this.#onlySends && (await this.#endUnwanted(task, row))) return;
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

  /** Ends a cancelled task whose worker died, and one whose journal's format no worker has. @returns whether it did */
  async #endUnwanted(task: TaskStatus, row: OpenRow): Promise<boolean> {
    const { id, cancelledBy } = task;
    if (cancelledBy === undefined || isLeased(task, this.#system.clock.now()))
      return isForeign(task) && this.#endForeign(task, row);
    return (await cancelTask(this.#system, id, cancelledBy)) !== undefined;
  }

  /**
   * Fails a task that no worker with the format of its journal took in time. Until then messages are sent as usual: during an upgrade both
   * releases have workers.
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

  /** Fails a task that no worker holds: by its lease, so that a worker that comes at the last moment keeps it. @returns whether it did */
  async #end(task: TaskStatus, entry: JournalEntry): Promise<boolean> {
    const { store, randomness, host } = this.#system;
    const ownerId = `${randomness.id()}@${host}`;
    const leased = await store.takeLease(task.id, { ownerId, attempts: 0, journalFormat: 'any' });
    if (leased === undefined) return false;
    await store.commit(leased.lease, { entries: [entry], next: 'FAILED' });
    await settleTask(this.#system, { ...leased.task, state: 'FAILED' });
    return true;
  }

  /** Notifies the agents of a task that none holds, and fails it where none came in time, and none is connected. */
  async #awaitAgent(task: TaskStatus, inbox: TaskInbox, { acceptedAtMs }: OpenRow): Promise<void> {
    const system = this.#system;
    if (!isLeased(task, system.clock.now())) {
      if (task.parts !== undefined) await system.store.repairInbox(task);
      await this.#tellAgents(inbox.account);
    }
    const sinceMs = Math.max(acceptedAtMs, task.leaseUntilMs, task.changedAtMs);
    if (this.#onlySends || system.clock.now() - sinceMs < inbox.waitMs) return;
    const seen = await this.#findSeen(inbox.account);
    if (seen?.isConnected) return;
    if (await this.#end(task, toUnservedEntry(inbox, seen))) this.report.unserved += 1;
  }

  /** Once for each account: a notified agent asks for all waiting tasks. */
  async #tellAgents(account: string): Promise<void> {
    if (this.#told.has(account)) return;
    this.#told.add(account);
    await this.#system.hints?.send({ kind: 'TASK', account, id: '' });
  }

  /** Reads it once for each account. */
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
      // Submitted again since: its next end has a row of its own.
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

  /** A failing row is left for the next sweep, and delays no other. */
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

/** Waits for a live lease: if its worker died, the message arrives right after it lapsed. */
function getDelaySeconds(task: TaskStatus, now: number): number {
  return isLeased(task, now) ? Math.ceil((task.leaseUntilMs - now) / 1000) + 1 : 0;
}

/**
 * Handles a message that failed in all its deliveries. The task is failed only when its own attempts are spent and no worker holds it;
 * otherwise it stays open for the sweeper.
 *
 * @param deliveries number of the message's failed deliveries.
 * @returns why. A dead letter counts as attempts of its task: the next one for it finds it `unended`.
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
  const spent = isSpent(task, system.clock.now());
  const entries = spent ? [toAbandonedEntry(task.attempts)] : [];
  await system.store.commit(lease, { entries, next: spent ? 'FAILED' : 'release' });
  const { account, caller, attempts } = task;
  system.log.error('a task could not be run', { taskId, account, ...caller, attempts, failed: spent });
  if (spent) await settleTask(system, { ...task, state: 'FAILED' });
  return attempts > deliveries ? 'unended' : 'unbegun';
}

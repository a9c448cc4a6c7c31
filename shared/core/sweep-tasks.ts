import { settleTask, type TaskSystem } from './process-hint.ts';
import { toAbandonedEntry } from './run-task.ts';
import { attemptsMax, isFinished, type OpenRow, type Task } from './task.ts';

/** Rows read in one sweep: a longer backlog is taken up by the next ones, oldest first. */
const rowsMax = 1_000;

/** Rows handled at once. */
const concurrency = 8;

/** A row without a task this old belongs to a submission that died before its header was written. */
const orphanAgeMs = 10 * 60 * 1000;

/** What a sweep did, for the log and the tests. */
export interface SweepReport {
  /** Hints sent for tasks that wait, or whose worker may have died. */
  readonly hinted: number;
  /** Finished tasks whose end was told late. */
  readonly settled: number;
  /** Rows that pointed to no open task. */
  readonly removed: number;
  /** Rows that could not be dealt with; the log says why, and the next sweep tries again. */
  readonly failed: number;
}

/**
 * Goes through the list of open tasks: sends a new hint for each that is open (for a held one delayed until its lease may
 * lapse), ends what a worker left unfinished after completion, and removes rows without a task.
 */
export async function sweepTasks(system: TaskSystem): Promise<SweepReport> {
  const report = { hinted: 0, settled: 0, removed: 0, failed: 0 };
  const rows = [...(await system.store.listOpen(rowsMax))];
  const workers = Array.from({ length: concurrency }, async () => {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
      const done = await trySweepRow(system, row);
      if (done !== undefined) report[done] += 1;
    }
  });
  await Promise.all(workers);
  return report;
}

/** A row that cannot be dealt with is left for the next sweep, and keeps no other from its turn. */
async function trySweepRow(system: TaskSystem, row: OpenRow): Promise<keyof SweepReport | undefined> {
  try {
    return await sweepRow(system, row);
  } catch (error) {
    system.log.error('an open task could not be swept', { taskId: row.taskId, error });
    return 'failed';
  }
}

async function sweepRow(system: TaskSystem, row: OpenRow): Promise<keyof SweepReport | undefined> {
  const task = await system.store.find(row.taskId);
  const now = system.clock.now();
  if (task === undefined && now - row.acceptedAtMs < orphanAgeMs) return undefined;
  if (task === undefined || task.openRow !== row.key) {
    await system.store.removeOpenRow(row);
    return 'removed';
  }
  if (isFinished(task)) {
    await settleTask(system, task);
    return 'settled';
  }
  await system.queue.send({
    taskId: task.id,
    account: task.account,
    delaySeconds: getDelaySeconds(task, now),
  });
  return 'hinted';
}

/** A live lease is waited for: if its worker died, the hint arrives right after it lapsed. */
function getDelaySeconds(task: Task, now: number): number {
  return task.leaseUntilMs > now ? Math.ceil((task.leaseUntilMs - now) / 1000) + 1 : 0;
}

/**
 * Deals with a hint that no worker could take after all its deliveries. The task is failed only when its own attempts are
 * spent and nobody holds it; otherwise it stays open for the sweeper.
 *
 * @param deliveries how often the hint was delivered in vain.
 */
export async function settleDeadLetter(
  system: TaskSystem,
  taskId: string,
  deliveries: number,
): Promise<void> {
  const ownerId = `${system.randomness.id()}@${system.host}`;
  const leased = await system.store.takeLease(taskId, { ownerId, attempts: deliveries });
  if (leased === undefined) return;
  const { task, lease } = leased;
  const spent = task.attempts >= attemptsMax;
  const entries = spent ? [toAbandonedEntry(task.attempts)] : [];
  await system.store.commit(lease, { entries, next: spent ? 'FAILED' : 'release' });
  const { account, caller, attempts } = task;
  system.log.error('a task could not be run', { taskId, account, ...caller, attempts, failed: spent });
  if (spent) await settleTask(system, { ...task, state: 'FAILED' });
}

import type { Clock, Randomness } from '#core/clock.ts';
import { waits, within } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Meter } from '#core/meter.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { holdLease } from './hold-lease.ts';
import type { Operation } from './operation.ts';
import { type OperationQueue, sendForTask, type TaskHints } from './operation-queue.ts';
import { type RunEnd, type RunOutcome, type RunTaskOptions, runTask } from './run-task.ts';
import {
  type Commit,
  type LeasedTask,
  LeaseLostError,
  leaseDurationMs,
  type Task,
  TaskCancelledError,
  type TaskStore,
  type WorkerStore,
} from './task.ts';
import { findNextPart } from './task-parts.ts';
import { TaskTeller } from './tell-task.ts';

/** What turning a message into a finished task needs. */
export interface TaskSystem {
  readonly store: TaskStore;
  readonly queue: OperationQueue;
  readonly bus: EventBus;
  /** Default: agents get no hints, and ask by themselves. */
  readonly hints?: TaskHints;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /** Takes what is measured. Default: nobody does. */
  readonly meter?: Meter;
  /** Where this worker runs, shown as the part of a task's `ownerId` behind the `@`. */
  readonly host: string;
}

/** What running a task needs, also in processes without the stores. */
export type WorkerSystem = Omit<TaskSystem, 'store'> & { readonly store: WorkerStore };

/** One received message. */
export interface ReceivedTaskMessage {
  readonly taskId: string;
  readonly receiptHandle: string;
}

interface ProcessMessageOptions {
  findOperation(provider: string, name: string, description: JsonObject): Promise<Operation | undefined>;
  /** As `RunTaskOptions` has it. */
  renewOperations?(): Promise<boolean>;
  /** As `RunTaskOptions` has them. */
  readonly clusters?: RunTaskOptions['clusters'];
  /** Called when the task was put down. @param seconds after which it is to be looked at again */
  onPutDown?(seconds: number): void;
  /** Called with the task once it is held, for the log. */
  onLeased?(task: Task): void;
  /** Whether this worker is an agent: it runs only tasks that wait for one. Default false: it runs all others. */
  readonly isAgent?: boolean;
  /** Aborted with a CheckpointError when the worker's time is over. */
  readonly stop: AbortSignal;
}

/** Seconds after which a message comes again whose worker failed: by then its lease has lapsed. */
const failedVisibilitySeconds = Math.ceil(leaseDurationMs / 1000) + 5;

/**
 * Runs the task of a message. A message for a task that is held or finished, or whose journal has another format, does nothing. Deleting it
 * loses nothing: the record is the truth, and the sweeper sends new messages for open tasks.
 */
export async function processTaskMessage(
  system: WorkerSystem,
  message: ReceivedTaskMessage,
  options: ProcessMessageOptions,
): Promise<void> {
  const ownerId = `${system.randomness.id()}@${system.host}`;
  const leased = await system.store.takeLease(message.taskId, { ownerId, attempts: 1 });
  if (leased === undefined)
    return system.log.debug('message for a task that is held or finished, or of another journal format', {
      ...message,
    });
  // The task may have been submitted again, with other operations, after this message.
  if ((leased.task.inbox !== undefined) !== (options.isAgent === true)) {
    return system.store.commit(leased.lease, { entries: [], next: 'release' });
  }
  options.onLeased?.(leased.task);
  const startedAt = system.clock.monotonic();
  const { attempts, acceptedAtMs } = leased.task;
  system.log.info('task started', { attempt: attempts, waitedMs: system.clock.now() - acceptedAtMs });
  const teller = new TaskTeller(system, leased.task);
  try {
    const end = await runLeased({ system, leased, message, options, teller });
    const { outcome, lookSeconds } = end;
    const durationMs = Math.round(system.clock.monotonic() - startedAt);
    system.log.info(outcomeLines[outcome], { durationMs, ...(lookSeconds !== undefined && { lookSeconds }) });
    await finishRun(system, leased.task, { ...end, teller });
    if (lookSeconds !== undefined) options.onPutDown?.(lookSeconds);
  } catch (error) {
    if (!(error instanceof LeaseLostError)) {
      // Not only after the queue's long visibility timeout.
      await hideMessage(system, message.receiptHandle, failedVisibilitySeconds);
      throw error;
    }
    system.log.warn('stopped working on a task', { taskId: message.taskId, reason: error.message });
    if (error instanceof TaskCancelledError) await settleTask(system, error.task);
  }
}

/** The log lines of a run's end. */
const outcomeLines: { readonly [K in RunOutcome]: string } = {
  COMPLETED: 'task completed',
  FAILED: 'task failed',
  released: 'task handed on to the next worker',
  handedOver: 'task handed over to the worker of its next operations',
  waiting: 'task put down: it waits',
};

async function runLeased(run: {
  system: WorkerSystem;
  leased: LeasedTask;
  message: ReceivedTaskMessage;
  options: ProcessMessageOptions;
  teller: TaskTeller;
}): Promise<RunEnd> {
  const { system, leased, teller, options } = run;
  const { lease } = leased;
  using _hidden = keepHidden(system, run.message.receiptHandle);
  await using held = holdLease(lease, {
    clock: system.clock,
    subject: `task ${lease.taskId}`,
    durationMs: leaseDurationMs,
    renew: (signal) => system.store.renewLease(lease, signal),
  });
  return await runTask(leased, {
    store: { commit: (_lease, commit) => commitAndTell(system, leased, { commit, teller }) },
    clock: system.clock,
    log: system.log,
    findOperation: options.findOperation,
    ...(options.renewOperations && { renewOperations: options.renewOperations }),
    ...(options.clusters && { clusters: options.clusters }),
    ...(system.meter && { meter: system.meter }),
    signal: AbortSignal.any([held.signal, options.stop]),
  });
}

async function commitAndTell(
  system: WorkerSystem,
  { task, lease }: LeasedTask,
  { commit, teller }: { commit: Commit; teller: TaskTeller },
): Promise<void> {
  // Later workers, maybe many, must not report it again.
  if (commit.next === 'wait') await leaveToSweeper(system, task, () => teller.flush());
  await system.store.commit(lease, { ...commit, told: teller.told });
  teller.add(commit.entries);
}

/** Work after a run. The task's state is stored: no failure here fails the run, and the sweeper, by the open row, does what is left. */
async function finishRun(
  system: WorkerSystem,
  task: Task,
  { outcome, lookSeconds, teller }: RunEnd & { teller: TaskTeller },
): Promise<void> {
  const isEnd = outcome === 'COMPLETED' || outcome === 'FAILED';
  if (isEnd) system.meter?.record('tasks', { success: String(outcome === 'COMPLETED') });
  if (isEnd) return settleTask(system, { ...task, state: outcome }, teller);
  const next = outcome === 'handedOver' ? { ...task, inbox: findNextPart(task)?.inbox } : task;
  await Promise.all([
    leaveToSweeper(system, task, () => sendForTask(system, next, lookSeconds)),
    outcome === 'waiting' || leaveToSweeper(system, task, () => teller.flush()),
  ]);
}

/** Reports a task's end and removes it from the list of open tasks. Never rejects: the next sweep does what fails. */
export function settleTask(system: WorkerSystem, task: Task, teller?: TaskTeller): Promise<void> {
  return leaveToSweeper(system, task, () => trySettleTask(system, task, teller));
}

/**
 * Reports a task's end, then removes it from the list of open tasks: a worker that dies in between leaves a row from which the sweeper
 * repeats this.
 *
 * @throws when the bus or the store is unavailable: the row stays.
 */
export async function trySettleTask(
  system: WorkerSystem,
  task: Task,
  teller = new TaskTeller(system, task),
): Promise<void> {
  await teller.flushEnd(task.state);
  await system.store.removeOpen(task);
}

async function leaveToSweeper(system: WorkerSystem, task: Task, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const cause = getErrorMessage(error);
    system.log.warn('the sweeper is to do what follows a run', { taskId: task.id, cause });
  }
}

interface HidingSystem {
  readonly queue: Pick<OperationQueue, 'extendVisibility'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Seconds that a message stays hidden after its worker's last sign of life. */
const visibilitySeconds = 60;

/** Milliseconds between two signs of life: as often as a lease is renewed. */
const beatMs = leaseDurationMs / 4;

/** Milliseconds that each call may take. */
const hideMs = 5_000;

/**
 * Keeps a received message hidden until disposed. It is independent of the worker's lease: while the queue is unavailable the message may
 * come again, without effect, since the task is held.
 */
function keepHidden(system: HidingSystem, receiptHandle: string): Disposable {
  const stopped = new AbortController();
  void beat();
  return { [Symbol.dispose]: () => stopped.abort() };

  async function beat(): Promise<void> {
    while (await waits(system.clock, beatMs, stopped.signal)) {
      await hideMessage(system, receiptHandle, visibilitySeconds);
    }
  }
}

/** Hides a received message for this many seconds from now. Never rejects: on failure it comes back when it would have anyway. */
async function hideMessage(
  { queue, clock, log }: HidingSystem,
  receiptHandle: string,
  seconds: number,
): Promise<void> {
  const deadline = { ms: hideMs, what: 'hiding a message' };
  try {
    await within(clock, deadline, () => queue.extendVisibility(receiptHandle, seconds));
  } catch (error) {
    log.warn('the visibility of a message could not be changed', { cause: getErrorMessage(error) });
  }
}

import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { holdLease } from './hold-lease.ts';
import { hideMessage, keepHidden } from './keep-hidden.ts';
import type { Operation } from './operation.ts';
import { type OperationQueue, sendForTask, type TaskHints } from './operation-queue.ts';
import { type RunEnd, type RunOutcome, type RunTaskOptions, runTask } from './run-task.ts';
import {
  type Commit,
  type LeasedTask,
  LeaseLostError,
  leaseDurationMs,
  type Task,
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
  /** Default: agents are not told of what waits for them, and look for themselves. */
  readonly hints?: TaskHints;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /** Where this worker runs, shown as the part of a task's `ownerId` behind the `@`. */
  readonly host: string;
}

/** What running a task needs of it: elsewhere than beside the stores, too. */
export type WorkerSystem = Omit<TaskSystem, 'store'> & { readonly store: WorkerStore };

/** One received message. */
export interface ReceivedTaskMessage {
  readonly taskId: string;
  readonly receiptHandle: string;
}

/** How a message's processing is steered. */
export interface ProcessMessageOptions {
  findOperation(provider: string, name: string): Promise<Operation | undefined>;
  /** As `RunTaskOptions` has it. */
  renewOperations?(): Promise<boolean>;
  /** As `RunTaskOptions` has them. */
  readonly clusters?: RunTaskOptions['clusters'];
  /** Called where the task was put down. @param seconds after which it is to be looked at again */
  onPutDown?(seconds: number): void;
  /** Called with the task once it is held, for what the log tells of it. */
  onLeased?(task: Task): void;
  /** Whether this worker is an agent: it runs what waits for one, and nothing else. Default false: all the rest. */
  readonly isAgent?: boolean;
  /** Aborted with a CheckpointError when the worker's time is over. */
  readonly stop: AbortSignal;
}

/** Seconds after which a message comes again whose worker failed: then its lease has lapsed. */
const failedVisibilitySeconds = Math.ceil(leaseDurationMs / 1000) + 5;

/**
 * Runs the task that a message names. A message for a task that is held or finished, or whose journal has another format, does nothing: deleting it loses nothing, since
 * the record is the truth and the sweeper sends new messages for what is open.
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
  // A message may be older than what the task was submitted anew with.
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
      // Instead of after the queue's long time-out.
      await hideMessage(system, message.receiptHandle, failedVisibilitySeconds);
      throw error;
    }
    system.log.warn('stopped working on a task', { taskId: message.taskId, reason: error.message });
  }
}

/** What the log tells of a run's end. */
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
    signal: AbortSignal.any([held.signal, options.stop]),
  });
}

async function commitAndTell(
  system: WorkerSystem,
  { task, lease }: LeasedTask,
  { commit, teller }: { commit: Commit; teller: TaskTeller },
): Promise<void> {
  // Who looks again, maybe many times, is not to tell it again.
  if (commit.next === 'wait') await leaveToSweeper(system, task, () => teller.flush());
  await system.store.commit(lease, { ...commit, told: teller.told });
  teller.add(commit.entries);
}

/**
 * What follows a run, off the path to completion: the task stands as it stands, so nothing that fails here fails the run. The open
 * row stays, and by it the sweeper does what was not done.
 */
async function finishRun(
  system: WorkerSystem,
  task: Task,
  { outcome, lookSeconds, teller }: RunEnd & { teller: TaskTeller },
): Promise<void> {
  if (outcome === 'COMPLETED' || outcome === 'FAILED')
    return settleTask(system, { ...task, state: outcome }, teller);
  const next = outcome === 'handedOver' ? { ...task, inbox: findNextPart(task)?.inbox } : task;
  await Promise.all([
    leaveToSweeper(system, task, () => sendForTask(system, next, lookSeconds)),
    outcome === 'waiting' || leaveToSweeper(system, task, () => teller.flush()),
  ]);
}

/** Tells a task's end and takes it off the list of open tasks. Never rejects: what fails is done by the next sweep. */
export function settleTask(system: WorkerSystem, task: Task, teller?: TaskTeller): Promise<void> {
  return leaveToSweeper(system, task, () => trySettleTask(system, task, teller));
}

/**
 * Tells a task's end and takes it off the list of open tasks: in this order, so that a worker that dies in between leaves a
 * row from which the sweeper does it again.
 *
 * @throws when the bus or the store is away: the row stays.
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

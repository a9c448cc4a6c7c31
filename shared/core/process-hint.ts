import { auditListMax } from './audit.ts';
import type { Clock, Randomness } from './clock.ts';
import { getErrorMessage } from './errors.ts';
import { holdLease } from './hold-lease.ts';
import type { Logger } from './logger.ts';
import type { Operation } from './operation.ts';
import type { OperationQueue } from './operation-queue.ts';
import { type RunOutcome, runTask } from './run-task.ts';
import { type LeasedTask, LeaseLostError, leaseDurationMs, type Task, type TaskStore } from './task.ts';
import { type BusEvent, type EventBus, toEndEvent, toTaskEvent } from './task-events.ts';

/** What turning a hint into a finished task needs. */
export interface TaskSystem {
  readonly store: TaskStore;
  readonly queue: OperationQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /** Where this worker runs, shown as the part of a task's `ownerId` behind the `@`. */
  readonly host: string;
}

/** One received hint. */
export interface ReceivedHint {
  readonly taskId: string;
  readonly receiptHandle: string;
}

/** How a hint's processing is steered. */
export interface ProcessHintOptions {
  findOperation(provider: string, name: string): Operation | undefined;
  /** As `RunTaskOptions` has it. */
  renewOperations?(): Promise<boolean>;
  /** Called with the task once it is held, for what the log tells of it. */
  onLeased?(task: Task): void;
  /** Aborted with a CheckpointError when the worker's time is over. */
  readonly stop: AbortSignal;
}

/** Seconds that a message stays hidden beyond its worker's last sign of life. */
const visibilitySeconds = 60;

/** Milliseconds for which events of a running task are held back, to be published together. */
const eventDelayMs = 1_000;

/**
 * Runs the task that a hint names. A hint for a task that is held or finished does nothing: deleting it loses nothing, since
 * the record is the truth and the sweeper sends new hints for what is open.
 */
export async function processHint(
  system: TaskSystem,
  hint: ReceivedHint,
  options: ProcessHintOptions,
): Promise<void> {
  const ownerId = `${system.randomness.id()}@${system.host}`;
  const leased = await system.store.takeLease(hint.taskId, { ownerId, attempts: 1 });
  if (leased === undefined) return system.log.debug('hint for a task that is held or finished', { ...hint });
  options.onLeased?.(leased.task);
  const startedAt = system.clock.monotonic();
  const { attempts, acceptedAtMs } = leased.task;
  system.log.info('task started', { attempt: attempts, waitedMs: system.clock.now() - acceptedAtMs });
  const events = new EventBuffer(system);
  const run = rememberOperations(leased);
  if (leased.lease.fence === 1) events.add(await toAcceptedEvent(run));
  try {
    const outcome = await runLeased({ system, leased: run, hint, options, events });
    system.log.info(outcomeLines[outcome], { durationMs: Math.round(system.clock.monotonic() - startedAt) });
    await finishRun(system, leased.task, { outcome, events });
  } catch (error) {
    if (!(error instanceof LeaseLostError)) {
      await showSoon(system, hint);
      throw error;
    }
    system.log.warn('stopped working on a task', { taskId: hint.taskId, reason: error.message });
  }
}

/** The leased task, whose operations are read once however often they are asked for. */
function rememberOperations(leased: LeasedTask): LeasedTask {
  let reading: ReturnType<LeasedTask['readOperations']> | undefined;
  return {
    ...leased,
    readOperations() {
      reading ??= leased.readOperations();
      return reading;
    },
  };
}

/** What was accepted: operations by name. Where they cannot be read the run tells. */
async function toAcceptedEvent({ task, readOperations }: LeasedTask): Promise<BusEvent> {
  const operations = await readOperations().catch(() => undefined);
  const names = operations && [...new Set(operations.map(({ name }) => name))];
  const more = names && { operations: names.slice(0, auditListMax) };
  return toTaskEvent(task, { type: 'TaskAccepted', atMs: task.acceptedAtMs, ...(more && { more }) });
}

/** What the log tells of a run's end. */
const outcomeLines: { readonly [K in RunOutcome]: string } = {
  COMPLETED: 'task completed',
  FAILED: 'task failed',
  released: 'task handed on to the next worker',
};

/** Lets a message whose worker failed come again when the lease has lapsed, instead of after the queue's long time-out. */
async function showSoon(system: TaskSystem, hint: ReceivedHint): Promise<void> {
  const seconds = Math.ceil(leaseDurationMs / 1000) + 5;
  try {
    await system.queue.extendVisibility(hint.receiptHandle, seconds);
  } catch (error) {
    system.log.warn('the visibility of a message could not be changed', { cause: getErrorMessage(error) });
  }
}

async function runLeased(run: {
  system: TaskSystem;
  leased: LeasedTask;
  hint: ReceivedHint;
  options: ProcessHintOptions;
  events: EventBuffer;
}): Promise<RunOutcome> {
  const { system, leased, events, options } = run;
  const { lease } = leased;
  await using held = holdLease(lease, {
    clock: system.clock,
    subject: `task ${lease.taskId}`,
    durationMs: leaseDurationMs,
    async renew() {
      await system.store.renewLease(lease);
      await system.queue.extendVisibility(run.hint.receiptHandle, visibilitySeconds);
    },
  });
  return await runTask(leased, {
    store: system.store,
    clock: system.clock,
    log: system.log,
    findOperation: options.findOperation,
    ...(options.renewOperations && { renewOperations: options.renewOperations }),
    signal: AbortSignal.any([held.signal, options.stop]),
    onStep: (step) =>
      events.add(
        toTaskEvent(leased.task, { type: 'TaskStepCompleted', atMs: system.clock.now(), more: { step } }),
      ),
  });
}

/** What follows a run, off the path to completion. */
async function finishRun(
  system: TaskSystem,
  task: Task,
  { outcome, events }: { outcome: RunOutcome; events: EventBuffer },
): Promise<void> {
  if (outcome === 'released') {
    await system.queue.send({ taskId: task.id, account: task.account });
    return events.flush();
  }
  await settleTask(system, { ...task, state: outcome }, events);
}

/**
 * Tells a task's end and takes it off the list of open tasks: in this order, so that a worker that dies in between leaves a
 * row from which the sweeper does it again.
 */
export async function settleTask(
  system: TaskSystem,
  task: Task,
  events = new EventBuffer(system),
): Promise<void> {
  events.add(toEndEvent(task, system.clock.now()));
  await events.flush();
  await system.store.removeOpen(task);
}

/** Collects the events of a run and publishes them together: at its end, and while it goes on at most once a second. */
class EventBuffer {
  readonly #system: TaskSystem;
  #events: BusEvent[] = [];
  #publishedAt: number;
  #publishing: Promise<void> = Promise.resolve();

  constructor(system: TaskSystem) {
    this.#system = system;
    this.#publishedAt = system.clock.monotonic();
  }

  add(event: BusEvent): void {
    this.#events.push(event);
    if (this.#system.clock.monotonic() - this.#publishedAt < eventDelayMs) return;
    this.#publishing = this.#publishing.then(() => this.#publish()).catch((error) => this.#complain(error));
  }

  /** Publishes what is left. Rejects when the bus does not take it. */
  async flush(): Promise<void> {
    await this.#publishing;
    await this.#publish();
  }

  async #publish(): Promise<void> {
    const events = this.#events;
    this.#events = [];
    this.#publishedAt = this.#system.clock.monotonic();
    if (events.length === 0) return;
    try {
      await this.#system.bus.publish(events);
    } catch (error) {
      // Kept for the next attempt of this run: delivery is at least once.
      this.#events = [...events, ...this.#events];
      throw error;
    }
  }

  #complain(error: unknown): void {
    this.#system.log.warn('events of a running task could not be published', {
      cause: getErrorMessage(error),
    });
  }
}

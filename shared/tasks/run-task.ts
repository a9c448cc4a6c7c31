import type { OperationFailureView } from '#contract/answers/tasks.ts';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Meter } from '#core/meter.ts';
import { CredentialsError, mayBeRenewed } from './late-credentials.ts';
import type { Operation, OperationRun, PreparedOperation } from './operation.ts';
import {
  type HistoryLine,
  isSpent,
  type JournalEntry,
  type LeasedTask,
  orchestrationPhase,
  type SubmittedOperation,
  type Task,
  type TaskStore,
  toFailedEntry,
} from './task.ts';
import { OperationJournal, TaskJournal, toOperationKey } from './task-journal.ts';
import { findPartRange } from './task-parts.ts';
import { type Look, PutDownError } from './wait.ts';

/** What running a task needs. */
export interface RunTaskOptions {
  readonly store: Pick<TaskStore, 'commit'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The operation of a provider for the account of a description; undefined when none has that name. */
  findOperation(provider: string, name: string, description: JsonObject): Promise<Operation | undefined>;
  /** Called before failing an operation that cannot be prepared: whether `findOperation` now knows newer accounts. Default: no. */
  renewOperations?(): Promise<boolean>;
  /** Default: operations run even while their clusters are unreachable. */
  readonly clusters?: AwaitedClusters;
  /** Takes how long operations took that ended. Default: nobody does. */
  readonly meter?: Meter;
  /** Aborted with a CheckpointError to stop at a point from which another worker continues, or with a LeaseLostError. */
  readonly signal: AbortSignal;
}

/** What operations wait for before they run. */
export interface AwaitedClusters {
  /** Whether the cluster of an account can be reached, as far as known. */
  isReachable(account: string): Promise<boolean>;
  /** Milliseconds after the task's acceptance to wait for an unreachable one; then its operations run, and report what is wrong. */
  readonly waitMs: number;
}

/** Reason to stop a run that another worker will continue: the worker's time is over, or it shuts down. */
export class CheckpointError extends Error {
  override name = 'CheckpointError';
}

/** How a run ended. `released`: open, for another worker; `handedOver`: for the worker of its next part; `waiting`: for a later look. */
export type RunOutcome = 'COMPLETED' | 'FAILED' | 'released' | 'handedOver' | 'waiting';

/** The end of a run. */
export interface RunEnd {
  readonly outcome: RunOutcome;
  /** Seconds after which a waiting task is to be looked at again. */
  readonly lookSeconds?: number;
}

/**
 * Runs the operations of a leased task in order, from where its journal ends, to the end of its present part. A failing operation fails the
 * task, but does not stop later ones.
 *
 * @throws LeaseLostError when another worker has the task or it was ended from outside, and what the store throws when it is unavailable:
 *   stop all work for the task then; another worker continues once the lease has lapsed.
 */
export async function runTask(leased: LeasedTask, options: RunTaskOptions): Promise<RunEnd> {
  const journal = openJournal(leased, options);
  if (isSpent(leased.task, options.clock.now())) return giveUp(leased, journal);
  try {
    const range = findPartRange(leased.task);
    let failed = false;
    for (const [index, submitted] of (await leased.readOperations()).slice(0, range?.to).entries()) {
      const entry = await runOperation({ journal, submitted, index, task: leased.task, options });
      failed ||= isFailure(entry);
    }
    if (range?.isLast === false) {
      await journal.end('handover');
      return { outcome: 'handedOver' };
    }
    if (!failed) journal.add({ key: 'end', lines: [toLine('Orchestration completed.')] });
    const outcome = failed ? 'FAILED' : 'COMPLETED';
    await journal.end(outcome);
    return { outcome };
  } catch (error) {
    if (error instanceof PutDownError) {
      const { lookSeconds } = error;
      await journal.end('wait', lookSeconds);
      return { outcome: 'waiting', lookSeconds };
    }
    if (!(error instanceof CheckpointError)) throw error;
    await journal.end('checkpoint');
    return { outcome: 'released' };
  }
}

function openJournal({ task, lease, waitsInPlace }: LeasedTask, options: RunTaskOptions): TaskJournal {
  return new TaskJournal({
    committed: task.journal,
    prefix: getRunPrefix(task.run),
    commit: (commit) => options.store.commit(lease, commit),
    putsDown: waitsInPlace !== true,
  });
}

/** Prefix of the journal keys of a task's n-th run. */
export function getRunPrefix(run: number): string {
  return `${run}/`;
}

/** Ends a task that no worker could run: it is failed, never left running. */
async function giveUp({ task }: LeasedTask, journal: TaskJournal): Promise<RunEnd> {
  journal.add(toAbandonedEntry(task.attempts));
  await journal.end('FAILED');
  return { outcome: 'FAILED' };
}

/** The last journal entry of a task whose attempts are spent. */
export function toAbandonedEntry(attempts: number): JournalEntry {
  const message =
    `The task made no progress in ${attempts} attempts: each worker that took it stopped before its first step ` +
    'was done. The log of the run-operations function shows why; submit the operation again once that is mended.';
  return toFailedEntry('abandoned', message);
}

/** Runs one operation unless an earlier worker finished it, and returns its last entry. */
async function runOperation(run: {
  journal: TaskJournal;
  submitted: SubmittedOperation;
  index: number;
  task: Task;
  options: RunTaskOptions;
}): Promise<JournalEntry> {
  const key = toOperationKey(run.index);
  const done = run.journal.find(key);
  if (done !== undefined) return done;
  const entry = { key, ...(await attemptOperation(run)) };
  run.journal.add(entry);
  return entry;
}

/** The lines and results of an operation, failed or not. Rejects only when the run itself must stop. */
async function attemptOperation({
  journal,
  submitted,
  index,
  task,
  options,
}: Parameters<typeof runOperation>[0]): Promise<Omit<JournalEntry, 'key'>> {
  const { signal } = options;
  const prepared = await prepareOperation(submitted, options);
  if (prepared instanceof Error) return toFailure(submitted.name, prepared, { lines: [] });
  const own = new OperationJournal(journal, { index, phase: prepared.phase, signal });
  const beganMs = options.clock.monotonic();
  const measure = (success: 'true' | 'false') => {
    const labels = { OperationType: prepared.operationClass, success };
    options.meter?.record('operations', labels, (options.clock.monotonic() - beganMs) / 1_000);
  };
  const begin = () => own.report(`Processing op: ${prepared.operationClass}`, orchestrationPhase);
  // An earlier worker stored the line with its first entry; before a new wait for the cluster nothing would drop it.
  if (!journal.hasBelow(`${toOperationKey(index)}/`)) begin();
  try {
    const isTried = own.isAwaited(toCredentialsWait(journal));
    if (!isTried) await awaitCluster(own, { prepared, task, options });
    const result = await prepared.run(own);
    signal.throwIfAborted();
    journal.throwIfPutDown();
    own.report(`Completed op: ${prepared.operationClass}`, orchestrationPhase);
    if (result !== undefined) own.addResult(result);
    measure('true');
    return own.takeLines();
  } catch (error) {
    journal.throwIfBroken();
    // Once the run is to stop, any error of an operation is a consequence of that.
    if (signal.aborted) throw signal.reason;
    journal.throwIfPutDown();
    if (isProgramGone(error)) throw error;
    const reported = own.takeLines();
    if (error instanceof CredentialsError) {
      // The next worker reports the lines since the last entry itself, wherever it continues; except for the first line.
      if (reported.lines[0]?.phase === orchestrationPhase) begin();
      await awaitCredentials(own, { journal, prepared, options, error });
    }
    measure('false');
    const visible = toVisible(error instanceof CredentialsError ? error.cause : error, prepared, options);
    return toFailure(prepared.operationClass, visible, reported);
  }
}

/** Does nothing of an operation while its cluster is known to be unreachable: puts the task down at once, as most stay so for longer. */
async function awaitCluster(
  run: OperationRun,
  {
    prepared: { account },
    task,
    options: { clusters, clock },
  }: { readonly prepared: PreparedOperation; readonly task: Task; readonly options: RunTaskOptions },
): Promise<void> {
  if (clusters === undefined) return;
  const look = async ({ isLate }: Look): Promise<true | undefined> =>
    isLate || (await clusters.isReachable(account)) || undefined;
  await run.waitUntil('cluster', look, {
    describe: () => `the cluster of account ${account}`,
    // A task accepted by a process whose clock was ahead waits no longer.
    deadlineMs: Math.min(task.acceptedAtMs, clock.now()) + clusters.waitMs,
    inPlaceMs: 0,
    phase: orchestrationPhase,
    clock,
  });
}

/**
 * Has an operation whose account's credentials are refused wait for new ones, if they worked lately, this run has used them, or it waits
 * already: as long as it would for its cluster, from its last progress. Returns where it is to fail.
 */
async function awaitCredentials(
  run: OperationJournal,
  {
    journal,
    prepared: { account },
    options: { clusters, clock },
    error,
  }: {
    readonly journal: TaskJournal;
    readonly prepared: PreparedOperation;
    readonly options: RunTaskOptions;
    readonly error: CredentialsError;
  },
): Promise<void> {
  const key = toCredentialsWait(journal);
  const mayCome =
    mayBeRenewed(error.workedAtMs, clock.now()) || journal.countSteps() > 0 || run.isAwaited(key);
  if (clusters === undefined || !mayCome) return;
  await run.waitUntil(key, async ({ isLate }) => isLate || undefined, {
    describe: () => `credentials of account ${account}: ${error.message}`,
    deadlineMs: clock.now() + clusters.waitMs,
    inPlaceMs: 0,
    clock,
  });
}

/** A key for another wait after each progress of the run. */
function toCredentialsWait(journal: TaskJournal): string {
  return `credentials/${journal.countSteps()}`;
}

/** Whether a module has moved since this process began, as by a rebuild: no fault of the operation, and another worker does it. */
function isProgramGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** The process that accepted the operation may have known an account that is new here. */
async function prepareOperation(
  submitted: SubmittedOperation,
  options: RunTaskOptions,
): Promise<PreparedOperation | Error> {
  const prepared = await tryPrepare(submitted, options);
  const isRenewed = prepared instanceof Error && (await options.renewOperations?.()) === true;
  return isRenewed ? tryPrepare(submitted, options) : prepared;
}

async function tryPrepare(
  { provider, name, description }: SubmittedOperation,
  options: RunTaskOptions,
): Promise<PreparedOperation | Error> {
  const operation = await options.findOperation(provider, name, description);
  if (operation === undefined)
    return new VisibleError(`No operation ${name} of provider ${provider} exists any more`);
  try {
    return operation.prepare(description);
  } catch (error) {
    if (error instanceof VisibleError) return error;
    throw error;
  }
}

/** The message of a defect may quote data, so it stays in the log. */
function toVisible(error: unknown, { operationClass }: PreparedOperation, { log }: RunTaskOptions): Error {
  if (error instanceof VisibleError) return error;
  log.error('operation failed by a defect', { operationClass, error });
  const name = error instanceof Error ? error.name : typeof error;
  return new VisibleError(
    `Internal error in ${operationClass} (${name}); the worker's log has it under this task's id`,
  );
}

/** The entry of a failed operation, with the EXCEPTION object that Orca and Deck show. */
function toFailure(
  operation: string,
  error: Error,
  reported: Pick<JournalEntry, 'lines' | 'outputs' | 'results'>,
): Omit<JournalEntry, 'key'> {
  const message = error.message;
  const cause = error.cause === undefined ? message : getErrorMessage(error.cause);
  const exception: OperationFailureView = {
    type: 'EXCEPTION',
    operation,
    message,
    cause,
    details: [{ message, retryable: false }],
  };
  const line = toLine(`Orchestration failed: ${operation} | ${error.name}: [${message}]`);
  return {
    ...reported,
    lines: [...reported.lines, line],
    results: [...(reported.results ?? []), JSON.stringify(exception)],
    value: { failed: true },
  };
}

function isFailure(entry: JournalEntry): boolean {
  return entry.value !== undefined;
}

function toLine(status: string): HistoryLine {
  return { phase: orchestrationPhase, status };
}

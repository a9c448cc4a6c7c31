import type { Account } from './account.ts';
import { InvalidInputError, ViolationList } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import type { PreparedOperation } from './operation.ts';
import type { TaskSystem } from './process-hint.ts';
import type { ProviderSet } from './provider-set.ts';
import { clientRequestIdMax, operationsMax } from './request-limits.ts';
import { checkRequestSize } from './request-size.ts';
import { type Caller, isFinished, orchestrationPhase, type SubmittedOperation, type Task } from './task.ts';
import { getTaskId } from './task-id.ts';

/** A request for operations. */
export interface OperationsRequest {
  /** As parsed from JSON; its shape is checked here. */
  readonly body: JsonValue;
  /** Provider id of the path; undefined on `/ops`, where each description names its own in `cloudProvider`. */
  readonly cloudProvider: string | undefined;
  /** Empty when the caller gave none. */
  readonly clientRequestId: string;
  readonly caller: Caller;
  /** Accounts that `X-SPINNAKER-ACCOUNTS` allows; undefined without the header. */
  readonly allowedAccounts: readonly string[] | undefined;
}

/**
 * Accepts a list of operations as one task: everything is parsed, validated and authorized before anything is stored. The same
 * `clientRequestId` answers the same task; a task of that id that still waits is hinted again, one that is retryable is
 * submitted anew.
 *
 * @throws InvalidInputError with every violation of every operation.
 */
export async function acceptOperations(
  system: TaskSystem,
  providers: ProviderSet,
  request: OperationsRequest,
): Promise<Task> {
  const requestId = parseClientRequestId(request.clientRequestId);
  const { operations, account } = checkOperations(providers, request);
  const id = await getTaskId(requestId, system.randomness);
  const entry = toAcceptEntry('Initializing Orchestration Task');
  const { task, accepted } = await system.store.accept({
    id,
    requestId,
    account,
    caller: request.caller,
    operations,
    entry,
  });
  system.log.info(accepted ? 'task accepted' : 'task was accepted before', { taskId: task.id, account });
  if (!accepted && task.state === 'FAILED_RETRYABLE') return restartTask(system, task, operations);
  if (!isFinished(task) && task.leaseUntilMs <= system.clock.now()) await hint(system, task);
  return task;
}

/** Operations that may be stored. */
export interface CheckedOperations {
  readonly operations: readonly SubmittedOperation[];
  /** The account of the first. */
  readonly account: string;
}

/**
 * The operations of a body, parsed, validated and authorized, each with its provider.
 *
 * @throws InvalidInputError with every violation of every operation.
 */
export function checkOperations(
  providers: ProviderSet,
  request: Pick<OperationsRequest, 'body' | 'cloudProvider' | 'allowedAccounts'>,
): CheckedOperations {
  const operations = parseOperations(request);
  checkRequestSize(operations.map(({ description }) => description));
  const [first] = prepareOperations(operations, providers, request.allowedAccounts);
  return { operations, account: first?.account ?? '' };
}

/**
 * Submits a retryable task anew, with other operations or its own.
 *
 * @throws InvalidInputError when it is not retryable.
 */
export async function restartTask(
  system: TaskSystem,
  task: Task,
  operations?: readonly SubmittedOperation[],
): Promise<Task> {
  const restarted = await system.store.restart(task.id, toAcceptEntry('Restarting task'), operations);
  if (restarted === undefined) {
    throw new InvalidInputError(
      `Task ${task.id} cannot be started again: its state is ${task.state}, not FAILED_RETRYABLE`,
    );
  }
  system.log.info('task restarted', { taskId: task.id, account: task.account });
  await hint(system, restarted);
  return restarted;
}

/** Keys of an operation with too many that are told. */
const namesToldMax = 20;

/** @throws InvalidInputError unless the body is an array of objects with one key each, whose value is an object. */
function parseOperations(request: Pick<OperationsRequest, 'body' | 'cloudProvider'>): SubmittedOperation[] {
  if (!Array.isArray(request.body)) {
    throw new InvalidInputError(
      'The body must be a JSON array of operations, each an object like {"deployManifest": {…}}',
    );
  }
  if (request.body.length === 0) throw new InvalidInputError('The body must hold at least one operation');
  if (request.body.length > operationsMax) {
    throw new InvalidInputError(
      `The body holds ${request.body.length} operations: at most ${operationsMax} are accepted in one request`,
    );
  }
  return request.body.map((item, index) => parseOperation(item, index, request.cloudProvider));
}

function parseOperation(
  item: JsonValue,
  index: number,
  cloudProvider: string | undefined,
): SubmittedOperation {
  const where = `Operation ${index}`;
  if (!isJsonObject(item))
    throw new InvalidInputError(`${where} must be an object with one key, the operation's name`);
  const [entry, ...others] = Object.entries(item);
  if (entry === undefined || others.length > 0) {
    const names = Object.keys(item).slice(0, namesToldMax).join(', ') || 'none';
    throw new InvalidInputError(`${where} must have exactly one key, the operation's name; it has: ${names}`);
  }
  const [name, description] = entry;
  if (!isJsonObject(description))
    throw new InvalidInputError(`${where}: the value of '${name}' must be an object`);
  return { provider: cloudProvider ?? parseProvider(description, where), name, description };
}

function parseProvider(description: JsonObject, where: string): string {
  const provider = description['cloudProvider'];
  if (typeof provider === 'string' && provider !== '') return provider;
  throw new InvalidInputError(
    `${where}: the description must name its 'cloudProvider', or be posted to /{cloudProvider}/ops`,
  );
}

/** Prepares all operations; the violations of all of them come in one error. */
function prepareOperations(
  operations: readonly SubmittedOperation[],
  providers: ProviderSet,
  allowedAccounts: OperationsRequest['allowedAccounts'],
): PreparedOperation[] {
  const violations = new ViolationList();
  const prepared: PreparedOperation[] = [];
  for (const operation of operations) {
    try {
      const one = prepareOperation(operation, providers);
      const refusals = authorize(providers.findAccount(one.account), one, allowedAccounts);
      if (refusals.length > 0) violations.add(new InvalidInputError(refusals));
      prepared.push(one);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      violations.add(error);
    }
  }
  violations.check();
  return prepared;
}

function prepareOperation(submitted: SubmittedOperation, providers: ProviderSet): PreparedOperation {
  const { provider, name, description } = submitted;
  const operation = providers.findOperation(provider, name);
  if (operation !== undefined) return operation.prepare(description);
  const known = providers.findProvider(provider);
  if (known === undefined) throw new InvalidInputError(`Unknown cloud provider '${provider}'`);
  const names = known.operations.map((one) => one.name).join(', ') || 'none';
  throw new InvalidInputError(`Unknown operation '${name}' of provider '${provider}'; it has: ${names}`);
}

/**
 * Clouddriver's rule without Fiat: an account restricted to groups is open to whom Gate lists it in `X-SPINNAKER-ACCOUNTS`.
 * Failures are validation errors, not 403.
 */
function authorize(
  account: Account | undefined,
  operation: PreparedOperation,
  allowedAccounts: readonly string[] | undefined,
): string[] {
  if (account === undefined || account.requiredGroupMembership.length === 0) return [];
  const name = account.name.toLowerCase();
  if (allowedAccounts?.some((allowed) => allowed.toLowerCase() === name)) return [];
  return [`Access denied to account ${operation.account}`];
}

function parseClientRequestId(text: string): string {
  if (text.length <= clientRequestIdMax) return text;
  throw new InvalidInputError(
    `clientRequestId must have at most ${clientRequestIdMax} characters, not ${text.length}`,
  );
}

/** A queue that is away loses nothing: the task is stored, and the sweeper hints it within a minute. */
async function hint(system: TaskSystem, task: Task): Promise<void> {
  try {
    await system.queue.send({ taskId: task.id, account: task.account });
  } catch (error) {
    system.log.error('the hint for a task could not be sent; the sweeper will send it', {
      taskId: task.id,
      error,
    });
  }
}

function toAcceptEntry(status: string): { key: string; lines: { phase: string; status: string }[] } {
  return { key: 'accept', lines: [{ phase: orchestrationPhase, status }] };
}

import type { CallerRights } from '#access/authorization.ts';
import { InvalidInputError, RefusedOperationsError, ViolationList } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { clientRequestIdMax, operationsMax } from '#core/request-limits.ts';
import { checkRequestSize } from '#core/request-size.ts';
import { findAccountName } from '#provider-kit/operation-definition.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { agentWaitSecondsDefault } from '#settings/agent-settings.ts';
import { checkReadable } from '../cancel-task.ts';
import { isDryRunName, type PreparedOperation, toDryRunName, toOwnName } from '../operation.ts';
import { sendForTask } from '../operation-queue.ts';
import type { TaskSystem } from '../process-message.ts';
import {
  type Caller,
  isFinished,
  isLeased,
  orchestrationPhase,
  type Submission,
  type SubmittedOperation,
  type Task,
  type TaskInbox,
  type TaskPart,
} from '../task.ts';
import { getTaskId } from '../task-id.ts';
import { toParts } from '../task-parts.ts';
import { toAcceptedValue } from '../tell-task.ts';

/** A request for operations. */
export interface OperationsRequest {
  /** As parsed from JSON; its shape is checked here. */
  readonly body: JsonValue;
  /** Provider id of the path; undefined on `/ops`, where each description names its own in `cloudProvider`. */
  readonly cloudProvider: string | undefined;
  /** Whether the operations are only to show what they would change. Default: false. */
  readonly isDryRun?: boolean;
  /** Empty when the caller gave none. */
  readonly clientRequestId: string;
  readonly caller: Caller;
  /** What the caller may do. */
  readonly rights: CallerRights;
  /** Takes the applications of the operations that the caller may not write to, if any. @throws RefusedOperationsError to refuse them */
  onDenied(applications: readonly string[]): Promise<void>;
}

/**
 * Accepts a list of operations as one task: everything is parsed, validated and authorized before anything is stored. The same
 * `clientRequestId` returns the same task: its message is sent again while it waits, and a retryable task is submitted again.
 *
 * @throws InvalidInputError with every violation of every operation; a RefusedOperationsError where one is a missing right; what `onDenied`
 *   throws.
 */
export async function acceptOperations(
  system: TaskSystem,
  providers: ProviderSet,
  request: OperationsRequest,
): Promise<Task> {
  const requestId = parseClientRequestId(request);
  const { operations, applications, objects, ...owners } = await checkOperations(providers, request);
  const { account, accounts } = owners;
  const id = await getTaskId(requestId, system.randomness);
  const entry = {
    ...toAcceptEntry('Initializing Orchestration Task'),
    value: toAcceptedValue({ operations: operations.map(({ name }) => name), applications, objects }),
  };
  const { task, accepted } = await system.store.accept({
    id,
    requestId,
    ...owners,
    caller: request.caller,
    operations,
    entry,
  });
  if (!accepted) checkSameAccounts(task, { accounts, rights: request.rights, requestId });
  system.log.info(accepted ? 'task accepted' : 'task was accepted before', { taskId: task.id, account });
  if (!accepted && task.state === 'FAILED_RETRYABLE') {
    return restartTask(system, task, { operations, ...owners });
  }
  if (!isFinished(task) && !isLeased(task, system.clock.now())) await sendTaskMessage(system, task);
  return task;
}

/** Operations that may be stored. */
export interface CheckedOperations {
  readonly operations: readonly SubmittedOperation[];
  /** The account of the first. */
  readonly account: string;
  /** The accounts of all, each once. */
  readonly accounts: readonly string[];
  /** Whether one of them is restricted to groups. */
  readonly isRestricted: boolean;
  /** Their applications, and full names of their objects, as far as descriptions show them. */
  readonly applications: readonly string[];
  readonly objects: readonly string[];
  /** Where the first waits for an agent; undefined when workers of the queue run it. */
  readonly inbox: TaskInbox | undefined;
  /** Their parts, where more than one worker runs them. */
  readonly parts: readonly TaskPart[] | undefined;
}

/**
 * The operations of a body, parsed, validated and authorized, each with its provider. An empty list is a task, too, which completes.
 *
 * @throws InvalidInputError with every violation of every operation; what `onDenied` throws.
 */
export async function checkOperations(
  providers: ProviderSet,
  request: Omit<OperationsRequest, 'clientRequestId' | 'caller'>,
): Promise<CheckedOperations> {
  const operations = parseOperations(request);
  checkRequestSize(operations.map(({ description }) => description));
  const prepared = await prepareOperations(operations, providers, request.rights);
  const applications = [...new Set(prepared.flatMap((each) => each.applications))];
  const objects = prepared.flatMap((each) => each.objects ?? []);
  const denied = applications.filter((name) => !request.rights.mayUseApplication(name, 'WRITE'));
  if (denied.length > 0) await request.onDenied(denied);
  const accounts = [...new Set(prepared.map(({ account }) => account))];
  const isRestricted = accounts.some((name) => providers.findAccount(name)?.permissions !== undefined);
  const [account = ''] = accounts;
  const inbox = findInbox(account, providers);
  const parts = toParts(prepared.map((each) => findInbox(each.account, providers)));
  return { operations, account, accounts, isRestricted, applications, objects, inbox, parts };
}

/** Where operations of an account wait that only its agents can run; undefined where workers of the queue can. */
function findInbox(account: string, providers: ProviderSet): TaskInbox | undefined {
  const home = providers.findAccount(account)?.agentHome;
  if (home === undefined) return undefined;
  const { waitSeconds = agentWaitSecondsDefault } = home;
  return { account, waitMs: waitSeconds * 1000 };
}

/**
 * Checks that a task found by a `clientRequestId` is the caller's own: nobody may learn of another account's task by its id, or keep that
 * account's operations from running by posting first.
 *
 * @throws RefusedOperationsError
 */
function checkSameAccounts(
  task: Task,
  {
    accounts,
    rights,
    requestId,
  }: Pick<CheckedOperations, 'accounts'> & {
    readonly rights: CallerRights;
    readonly requestId: string;
  },
): void {
  const isSame =
    task.accounts.length === accounts.length && task.accounts.every((name) => accounts.includes(name));
  if (isSame && task.accounts.every((name) => rights.mayUseAccount(name, 'WRITE'))) return;
  const denial = `clientRequestId '${requestId.slice(0, 100)}' belongs to a task of other accounts: post these operations under an id of their own`;
  throw new RefusedOperationsError(denial, { denial });
}

/** Submits a retryable task again, with other operations or its own, for their accounts and its former. @throws InvalidInputError */
export async function restartTask(system: TaskSystem, task: Task, submission?: Submission): Promise<Task> {
  checkReadable(task);
  const entry = toAcceptEntry('Restarting task');
  const restarted = await system.store.restart(task.id, entry, submission && addOwners(submission, task));
  if (restarted === undefined) {
    throw new InvalidInputError(
      `Task ${task.id} cannot be started again: its state is ${task.state}, not FAILED_RETRYABLE`,
    );
  }
  system.log.info('task restarted', { taskId: task.id, account: task.account });
  await sendTaskMessage(system, restarted);
  return restarted;
}

function addOwners({ operations, accounts, isRestricted, inbox, parts }: Submission, task: Task): Submission {
  return {
    ...{ operations, inbox, parts },
    accounts: [...new Set([...task.accounts, ...accounts])],
    isRestricted: isRestricted || task.isRestricted,
  };
}

/** Keys that an error names at most, of an operation with too many. */
const namesToldMax = 20;

/** @throws InvalidInputError unless the body is an array of objects with one key each, whose value is an object. */
function parseOperations(
  request: Pick<OperationsRequest, 'body' | 'cloudProvider' | 'isDryRun'>,
): SubmittedOperation[] {
  if (!Array.isArray(request.body)) {
    throw new InvalidInputError(
      'The body must be a JSON array of operations, each an object like {"deployManifest": {…}}',
    );
  }
  if (request.body.length > operationsMax) {
    throw new InvalidInputError(
      `The body holds ${request.body.length} operations: at most ${operationsMax} are accepted in one request`,
    );
  }
  const operations = request.body.map((item, index) => parseOperation(item, index, request.cloudProvider));
  if (!request.isDryRun) return operations;
  return operations.map((each) => ({ ...each, name: toDryRunName(each.name) }));
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

/** Prepares all operations; one error has all their violations. */
async function prepareOperations(
  operations: readonly SubmittedOperation[],
  providers: ProviderSet,
  rights: CallerRights,
): Promise<PreparedOperation[]> {
  const violations = new ViolationList();
  const prepared: PreparedOperation[] = [];
  for (const operation of operations) {
    try {
      const one = await prepareOperation(operation, providers);
      const denial = findDenial(one, rights);
      if (denial !== undefined) violations.refuse(denial);
      prepared.push(one);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      violations.add(error);
    }
  }
  violations.check();
  return prepared;
}

async function prepareOperation(
  submitted: SubmittedOperation,
  providers: ProviderSet,
): Promise<PreparedOperation> {
  const { provider, name, description } = submitted;
  const operation = await providers.findOperation(provider, name, description);
  if (operation !== undefined) return operation.prepare(description);
  if (!providers.takesOperations(provider)) {
    throw new InvalidInputError(`Unknown cloud provider '${provider}'`);
  }
  return refuseUnknown(submitted, providers);
}

/** @throws InvalidInputError: the provider has no such operation, no dry run of it, or has it for other accounts */
async function refuseUnknown(
  { provider, name, description }: SubmittedOperation,
  providers: ProviderSet,
): Promise<never> {
  const own = toOwnName(name);
  const all = await providers.listOperationNames(provider);
  const isOfOthers = all.includes(own);
  const known = isOfOthers ? await providers.listOperationNames(provider, description) : all;
  const names = known.filter((each) => !isDryRunName(each));
  if (names.includes(own)) {
    const others = names.filter((each) => known.includes(toDryRunName(each))).join(', ') || 'none';
    throw new InvalidInputError(
      `dryRun: there is no dry run of '${own}' of provider '${provider}'; of these there is one: ${others}`,
    );
  }
  const of = isOfOthers ? `account '${findAccountName(description)}'` : `provider '${provider}'`;
  throw new InvalidInputError(`Unknown operation '${own}' of ${of}; it has: ${names.join(', ') || 'none'}`);
}

/** Clouddriver's rule: a missing right to write is a violation like others, not 403. */
function findDenial(
  { account, sourceAccount = account }: PreparedOperation,
  rights: CallerRights,
): string | undefined {
  if (!rights.mayUseAccount(account, 'WRITE')) return `Access denied to account ${account}`;
  const mayRead = sourceAccount === account || rights.mayUseAccount(sourceAccount, 'READ');
  return mayRead ? undefined : `Access denied to account ${sourceAccount}`;
}

/** A dry run is another task than what is really done under the same id. */
function parseClientRequestId({
  clientRequestId: text,
  isDryRun,
}: Pick<OperationsRequest, 'clientRequestId' | 'isDryRun'>): string {
  if (text.length <= clientRequestIdMax) return isDryRun && text !== '' ? toDryRunName(text) : text;
  throw new InvalidInputError(
    `clientRequestId must have at most ${clientRequestIdMax} characters, not ${text.length}`,
  );
}

/** An unavailable queue loses nothing: the task is stored, and the sweeper sends its message within a minute. */
async function sendTaskMessage(system: TaskSystem, task: Task): Promise<void> {
  try {
    await sendForTask(system, task);
  } catch (error) {
    system.log.error('the message for a task could not be sent; the sweeper will send it', {
      taskId: task.id,
      error,
    });
  }
}

function toAcceptEntry(status: string): { key: string; lines: { phase: string; status: string }[] } {
  return { key: 'accept', lines: [{ phase: orchestrationPhase, status }] };
}

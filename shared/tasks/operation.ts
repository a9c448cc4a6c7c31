import type { TaskView } from '#contract/answers/tasks.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Look, Wait } from './wait.ts';

/** Captured output of one call, as `GET /task/{id}` shows it under `outputs`. */
export type OperationOutput = TaskView['outputs'][number];

/**
 * What a running operation reports and remembers.
 *
 * The journal makes a run resumable: a worker may die between any two lines, and another one calls the operation again from its start. A
 * step whose outcome is in the journal is not run again. Lines reported since the previous step belong to the step, and enter the history
 * with it, once. So between two steps an operation must report the same lines in the same order each time. Steps run one after the other.
 */
export interface OperationRun {
  /** Aborted when the worker must stop: lease lost, its time over, shutdown. Pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Adds a line to the task's history. @param phase tag of the line. Default: that of the operation. */
  report(status: string, phase?: string): void;
  /** Adds captured output to the task. */
  output(output: OperationOutput): void;
  /**
   * Adds a result object to the task, after those before it; what the operation returns is added last. Like lines, it belongs to the next
   * step. @param result values made by `withDoubles` are allowed inside
   */
  addResult(result: object): void;
  /** The result objects of the request's earlier operations that did not fail, in order: Clouddriver's `priorOutputs`. */
  listEarlierResults(): readonly JsonObject[];
  /**
   * Runs `work` unless the journal holds its outcome, and returns the outcome. That is stored at the latest before the next step begins:
   * after a crash `work` may run again, so it must be idempotent.
   *
   * @param key unique within the operation and the same on every run.
   */
  step<T extends JsonValue>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Like `step`, but the outcome is stored before this resolves. For choices that would differ when made again (a
   * new version's name, a timestamp, a target revision): decide first, then act on what was decided.
   */
  decide<T extends JsonValue>(key: string, choose: () => Promise<T>): Promise<T>;
  /**
   * The value that an earlier worker decided or did under this key; undefined when none did. For decisions that are only made when
   * something deviates from the plan: a repetition follows them from the start.
   */
  recall(key: string): JsonValue | undefined;
  /**
   * Waits until `look` returns a value. After two seconds the task is put down: its journal is stored, its lease given back, and a later
   * worker calls the operation again from its start, up to here. So `look` must ask for the current state, and what comes before must be
   * decided or idempotent. It may be called inside a step. The history says once what it waits for.
   *
   * @param key unique within the operation and the same on every run.
   * @param look returns undefined while there is something to wait for.
   * @throws FailedOperationError where `look` has no value though it is late; PutDownError where the task is put down: do not catch it.
   */
  waitUntil<T>(key: string, look: (at: Look) => Promise<T | undefined>, wait: Wait): Promise<T>;
}

/** One parsed and validated operation of a request. */
export interface PreparedOperation {
  /** The account it acts on: decides authorization and fairness. */
  readonly account: string;
  /** Another account that it reads from, which the caller must be able to read. Default: only its own. */
  readonly sourceAccount?: string;
  /** The applications that it changes, as far as its description shows: the caller must be able to write to each. */
  readonly applications: readonly string[];
  /** Full names of the objects that it is about, as far as its description shows: `deployment web`. Default: none. */
  readonly objects?: readonly string[];
  /** The class name that Clouddriver shows for it, for example `KubernetesDeployManifestOperation`. */
  readonly operationClass: string;
  /** Tag of its history lines, for example `DEPLOY_KUBERNETES_MANIFEST`. */
  readonly phase: string;
  /** Does it. The value becomes a result object of the task (values made by `withDoubles` are allowed inside); undefined adds none. */
  run(run: OperationRun): Promise<object | undefined>;
}

const dryRunPrefix = 'dryRun:';

/**
 * The name under which the dry run of an operation is stored: an operation of its own, so that a worker or an agent of an earlier release
 * refuses it in the place of really doing it.
 */
export function toDryRunName(name: string): string {
  return `${dryRunPrefix}${name}`;
}

/** The operation's own name. */
export function toOwnName(name: string): string {
  return isDryRunName(name) ? name.slice(dryRunPrefix.length) : name;
}

/** Whether a name is that of a dry run. */
export function isDryRunName(name: string): boolean {
  return name.startsWith(dryRunPrefix);
}

/** An atomic operation that a provider offers, bound to the provider's accounts. */
export interface Operation {
  /** Name in the request, for example `deployManifest`. */
  readonly name: string;
  /**
   * Parses and validates one description, without any call to a cloud. Unknown fields are ignored, null equals
   * absent, scalars coerce as Jackson coerces them.
   *
   * @throws InvalidInputError with every violation found.
   */
  prepare(description: JsonObject): PreparedOperation;
}

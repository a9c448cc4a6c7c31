import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Provider } from '#provider-kit/provider.ts';

/** What the contents of a specification are written with. */
export interface SpecInputs {
  /** Name of the place where the operation acts, such as a namespace; no other run has it. */
  readonly place: string;
  /** A secret text that occurs nowhere else; the same one for the same name. */
  plant(name: string): string;
}

/** A context that the operation must refuse. */
export interface InvalidContext {
  /** The fields that make the valid context a wrong one. */
  readonly change: JsonObject;
  /** The one error that Orca shows. `PLACE` stands for the name of the place. */
  readonly error: string;
  /** What the error must name: the field, or, where Clouddriver's code has the value in its place, the value. */
  readonly names: string;
}

/**
 * Makes wrong contexts whose error names a field, between what errors begin with and the problem.
 *
 * @param separator stands between these three
 */
export function refuseBy(beginning: string, separator = '.') {
  return (change: JsonObject, names: string, problem = 'empty'): InvalidContext => ({
    ...{ change, names, error: [beginning, names, problem].join(separator) },
  });
}

/**
 * What is to be known of an operation so that `testOperation` can test it. Texts may hold `PLACE` for the name of the place.
 *
 * @typeParam Place what `look` reads the effect from
 * @typeParam World what there is before the operation, such as a list of manifests
 */
export interface OperationSpec<Place, World> {
  /** What there is before. */
  world(inputs: SpecInputs): World;
  /** A valid context, without the account. */
  context(inputs: SpecInputs): JsonObject;
  /** Wrong contexts: at least one for each field that is checked. */
  readonly invalid: readonly InvalidContext[];
  /** The one error for an account that may not use the place. */
  readonly outside: string;
  /** What that error must name. Default: the place. */
  readonly outsideNames?: string;
  /** How many calls of each method one run makes to the cloud. */
  readonly calls: { readonly [method: string]: number };
  /** Whether it looks at what it wrote until the cloud has seen it: such looks at an object count as one. Default: it does not. */
  readonly waitsForWrites?: boolean;
  /** What the task's history tells of it. */
  readonly history: readonly string[];
  /** Members of its result object. Default: it has none. */
  readonly result?: JsonObject;
  /** Names of the secrets that the world and the context plant, besides the credentials of the account. */
  readonly secrets: readonly string[];
  /** Reads, past the code under test, what the operation is to change. */
  look(place: Place): Promise<JsonValue>;
  /** What `look` finds afterwards, however often a worker died. */
  effect(inputs: SpecInputs): JsonValue;
  /** What may differ between a run and one that was resumed, and the text that stands for it. Default: nothing. */
  readonly varies?: readonly (readonly [RegExp, string])[];
}

/** A call of a provider to its cloud. */
export interface CloudCall {
  /** Method of HTTP. */
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  /** Whether it changes something when the cloud takes it. */
  readonly isWrite: boolean;
}

/** A call that the cloud has answered. */
export interface AnsweredCall extends CloudCall {
  /** Whether the cloud did what it was asked to. */
  readonly isDone: boolean;
  /** What it did that must not be done again, such as creating an object, by name; undefined for what may be repeated. */
  readonly once?: string;
}

/** Stands between a worker and its cloud. */
export interface CallWatch {
  /**
   * Called before a call is sent.
   *
   * @param body what it sends; undefined when it sends nothing
   * @returns the message by which the cloud is to refuse the call; undefined to send it
   * @throws {WorkerDeadError} where the call must not be sent
   */
  before(call: CloudCall, body: unknown): string | undefined;
  /** Called when the cloud has answered. @returns whether the answer may reach the worker */
  after(call: AnsweredCall): boolean;
}

/** A call of a worker that is dead: nothing is sent, and nothing is answered. */
export class WorkerDeadError extends Error {
  override name = 'WorkerDeadError';
}

/** The accounts that every provider of `OperationCloud.openWorker` has. */
export const specAccounts = {
  /** May use every place. */
  everywhere: 'account-everywhere',
  /** May use the place of the run, and no other. */
  within: 'account-within',
  /** May use another place only. */
  elsewhere: 'account-elsewhere',
} as const;

/** What a worker runs operations with. */
export interface OpenedWorker extends AsyncDisposable {
  /** The provider with the accounts of `specAccounts`. */
  readonly provider: Provider;
}

/** How a worker's provider is opened. */
export interface WorkerOptions {
  readonly place: string;
  readonly watch: CallWatch;
  readonly log: Logger;
}

/** The cloud that the operations of one provider act on. */
export interface OperationCloud<Place, World> {
  /** Provider id. */
  readonly provider: string;
  /** Secrets of the accounts, by name. */
  readonly credentials: ReadonlyMap<string, string>;
  /** Makes a place for one run. */
  createPlace(): Promise<Place & AsyncDisposable & { readonly name: string }>;
  /** Makes the world, and waits until it is at rest. */
  arrange(place: Place, world: World): Promise<void>;
  /** Opens the provider as one worker has it. */
  openWorker(options: WorkerOptions): Promise<OpenedWorker>;
  /** Whether a call stays within the place. A list of all places does not. */
  isWithin(call: CloudCall, place: string): boolean;
  /** A result without what the cloud makes up for each object: ids, times, versions. */
  normalize(value: JsonValue): JsonValue;
}

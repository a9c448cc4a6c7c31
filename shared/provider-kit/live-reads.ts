import type { ConsoleOutputView } from '#contract/answers/jobs.ts';
import type { ManifestCoordinates } from '#contract/answers/manifests.ts';
import type { JsonObject } from '#core/json.ts';

/** Reads from a platform for which a caller waits. A member left out is one that the platform lacks. */
export interface LiveReads {
  readonly manifests?: ManifestReader;
  readonly jobs?: JobReader;
  readonly instances?: InstanceReader;
}

/** Which manifest to read. `location` is its place in the account, `''` for one without a location. */
export interface ManifestRequest {
  readonly account: string;
  readonly location: string;
  /** Full name, as Spinnaker writes it: kind, one space, name (`deployment web`). */
  readonly name: string;
  readonly includeEvents: boolean;
  /** True to return secret values, false to replace each by a mask: they are for callers with WRITE on the account. */
  readonly revealSecrets: boolean;
  /** Aborts the read. */
  readonly signal?: AbortSignal | undefined;
}

/** The members of a Spinnaker cluster in one location. */
export interface ClusterManifestsRequest {
  readonly account: string;
  readonly location: string;
  readonly kind: string;
  readonly application: string;
  readonly cluster: string;
}

/** Live reads of manifests, for a provider whose resources have them. It is Clouddriver's `ManifestProvider`. */
export interface ManifestReader {
  /**
   * The live object with its status, events and artifacts, ready for `JSON.stringify`.
   *
   * @throws NotFoundError for a malformed name and for an absent object, FailedOperationError when the read fails: UnreachableError because
   *   the account does not, or cannot, answer.
   */
  getManifest(request: ManifestRequest): Promise<object>;
  /** Whether an object of this full name has secret values. */
  isSecret(name: string): boolean;
  /** Every object of the kind that belongs to the cluster and the application. */
  listClusterManifests(request: ClusterManifestsRequest): Promise<readonly ManifestCoordinates[]>;
  /** The one that `criteria` picks: oldest, newest, second_newest, largest or smallest. @throws NotFoundError, InvalidInputError */
  getDynamicManifest(request: ClusterManifestsRequest, criteria: string): Promise<ManifestCoordinates>;
}

/** Which job or instance. */
export interface ObjectRequest {
  readonly account: string;
  readonly location: string;
  /** Its name in the route, in the provider's form (`job smoke`, `pod web-x7k2p`). */
  readonly name: string;
}

/** Which job to end. */
export interface JobDeletion extends ObjectRequest {
  /** Its identity, if the caller knows it. */
  readonly uid?: string | undefined;
}

/** Jobs, read live. It is Clouddriver's `JobProvider`. */
export interface JobReader {
  /** A job's state, ready for `JSON.stringify`. @throws NotFoundError for no such job, FailedOperationError when the read fails */
  getJob(request: ObjectRequest): Promise<object>;
  /**
   * Ends a job, with what it runs, without waiting for the end. If the request has its identity, and the job is gone or another one has its
   * name, nothing is done.
   *
   * @throws NotFoundError when there is no such job, FailedOperationError when it cannot be ended.
   */
  cancelJob(request: JobDeletion): Promise<void>;
  /** The properties that a job wrote to a file, or to the provider's equivalent; none where there is no such file. */
  getFileContents(request: ObjectRequest, fileName: string): Promise<JsonObject>;
}

/** What instances write, read live: the part of Clouddriver's `InstanceProvider` that is no view of the cache. */
export interface InstanceReader {
  /** What an instance wrote: a text, or one for each of its parts. @throws NotFoundError when there is no such account, and for a name that no instance can have. */
  getConsoleOutput(request: ObjectRequest): Promise<ConsoleOutputView['output']>;
  /** The properties that an instance wrote to a file, or to the provider's equivalent; none where there is no such file. */
  getFileContents(request: ObjectRequest, fileName: string): Promise<JsonObject>;
}

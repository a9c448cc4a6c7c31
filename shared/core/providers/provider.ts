import type { Authorizer } from '../access/authorizer.ts';
import type { CachingAgent } from '../agents/caching-agent.ts';
import type { CacheStore } from '../cache/cache-store.ts';
import type { RowCodec } from '../cache/packed-row.ts';
import type { Clock, Randomness } from '../clock.ts';
import type { EksService } from '../eks.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { Account, AccountWarning, RejectedAccount } from '../settings/account.ts';
import type { SecretReader } from '../settings/secret-reference.ts';
import type { Operation } from '../tasks/operation.ts';
import type { Catalog } from '../views/catalog.ts';
import type { ViewsOpener } from '../views/views.ts';
import type { Artifact } from './artifact.ts';

/** What a provider is opened with. */
export interface ProviderOptions {
  /** The merged Spinnaker configuration (`kubernetes.accounts`, `artifacts.http` …), placeholders resolved. */
  readonly settings: JsonObject;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /**
   * Where kubeconfigs and credentials may come from. `local`: files and exec plugins of this machine are allowed.
   * `deployed`: they are refused, for the account that names them alone.
   */
  readonly placement: 'local' | 'deployed';
  /**
   * `withheld` where the settings are what `toPublicSettings` made public: accounts can be looked at, but nothing can be reached
   * with them. Default `given`.
   */
  readonly credentials?: 'given' | 'withheld';
  /** Milliseconds between two runs of a caching agent whose account names none. Default 30 s. */
  readonly agentIntervalMs?: number;
  /** The process's environment: exec plugins inherit it, and a pod finds its API server in it. Default: empty. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** EKS, for accounts that name a cluster or a program that makes tokens for one. Default: there is none. */
  readonly eks?: EksService;
  /** Secrets that accounts refer to. Default: there are none. */
  readonly secrets?: SecretReader;
  /** Finds the catalog that one of the providers opened with this one has. Not to be called while they are opened. Default: none has. */
  readonly findCatalog?: () => Catalog | undefined;
  /** Opens the cache, so that what an operation wrote is seen at once. Default: it is seen with the next run of a caching agent. */
  readonly openCache?: () => Promise<CacheStore>;
}

/** Which manifest to read. `location` is the namespace, `''` for a cluster-scoped object. */
export interface ManifestRequest {
  readonly account: string;
  readonly location: string;
  /** Full name: kind, one space, name (`deployment web`). */
  readonly name: string;
  readonly includeEvents: boolean;
  /**
   * True to answer the values of a Secret, false to answer a mask in the place of each: they are for callers with WRITE on the
   * account.
   */
  readonly revealSecrets: boolean;
  /** Aborts the read. */
  readonly signal?: AbortSignal | undefined;
}

/** The members of a Spinnaker cluster in one namespace. */
export interface ClusterManifestsRequest {
  readonly account: string;
  readonly location: string;
  readonly kind: string;
  readonly application: string;
  readonly cluster: string;
}

/** Coordinates of a manifest, as the dynamic routes answer them. */
export interface ManifestCoordinates {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Live reads of manifests. */
export interface ManifestReader {
  /**
   * The live object with its status, events and artifacts, ready for `JSON.stringify`.
   *
   * @throws NotFoundError for a malformed name and for an object that is absent, FailedOperationError when the read fails:
   *   UnreachableError because the cluster does not answer, or cannot.
   */
  getManifest(request: ManifestRequest): Promise<object>;
  /** Whether an object of this full name is a Secret. */
  isSecret(name: string): boolean;
  /** Every object of the kind that carries the cluster and application annotations. */
  listClusterManifests(request: ClusterManifestsRequest): Promise<readonly ManifestCoordinates[]>;
  /**
   * The one that `criteria` picks: oldest, newest, second_newest, largest or smallest.
   *
   * @throws NotFoundError when there is none, InvalidInputError for an unknown criteria.
   */
  getDynamicManifest(request: ClusterManifestsRequest, criteria: string): Promise<ManifestCoordinates>;
}

/** Which object of a namespace. */
export interface ObjectRequest {
  readonly account: string;
  /** Namespace. */
  readonly location: string;
  /** Full name: `job smoke`, `pod web-x7k2p`. */
  readonly name: string;
}

/** Which pod. */
export interface PodRequest {
  readonly account: string;
  /** Namespace. */
  readonly location: string;
  /** Name of the pod, without its kind. */
  readonly pod: string;
}

/** Text that one container of a pod wrote. */
export interface ConsoleOutput {
  /** Name of the container, or `Error` where there is no pod. */
  readonly name: string;
  readonly output: string;
}

/** Jobs, and what pods write. All of it is read live. */
export interface JobReader {
  /**
   * A Job's state with its pods, ready for `JSON.stringify`.
   *
   * @throws NotFoundError when there is no such Job, FailedOperationError when the read fails.
   */
  getJob(request: ObjectRequest): Promise<object>;
  /**
   * Deletes a Job and its pods. It does not wait for the end of the pods.
   *
   * @throws NotFoundError when there is no such Job, FailedOperationError when it cannot be deleted.
   */
  deleteJob(request: ObjectRequest): Promise<void>;
  /** Properties that a container of a Job wrote to its log; none where there is no such log. */
  getJobProperties(request: ObjectRequest, container: string): Promise<JsonObject>;
  /** Properties that a container of a pod wrote to its log; none where there is no such log. */
  getPodProperties(request: PodRequest, container: string): Promise<JsonObject>;
  /**
   * What each container of a pod wrote, init containers first.
   *
   * @throws NotFoundError when there is no such account, and for a name that no pod can have.
   */
  listConsoleOutput(request: ObjectRequest): Promise<readonly ConsoleOutput[]>;
}

/** A fetched artifact: its bytes as they arrive. */
export interface ArtifactContent {
  readonly body: AsyncIterable<Uint8Array>;
}

/** An artifact account, as `GET /artifacts/credentials` shows it. */
export interface ArtifactAccount {
  readonly name: string;
  /** Spinnaker's id of the account's kind, for example `artifacts-github`. */
  readonly type: string;
  /** Artifact types it can fetch, for example `github/file`. */
  readonly types: readonly string[];
}

/** Downloads artifacts. */
export interface ArtifactFetcher {
  readonly accounts: readonly ArtifactAccount[];
  /**
   * Fetches one artifact with the account it names.
   *
   * @throws InvalidInputError, NotFoundError, AccessDeniedError (URL restrictions, origins of credentials), UnavailableError (too
   *   many fetches under way) or FailedOperationError.
   */
  fetch(artifact: Artifact, signal: AbortSignal): Promise<ArtifactContent>;
}

/** An opened provider. A capability left out is one it lacks. */
export interface Provider extends AsyncDisposable {
  /** Provider id, for example `kubernetes`. */
  readonly name: string;
  readonly accounts: readonly Account[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** What whoever wrote the settings should know; the log has it. */
  readonly accountWarnings?: readonly AccountWarning[];
  readonly operations: readonly Operation[];
  readonly manifests?: ManifestReader;
  readonly artifacts?: ArtifactFetcher;
  readonly jobs?: JobReader;
  /** What keeps its accounts cached. */
  readonly cachingAgents?: readonly CachingAgent[];
  /** What is shown of its accounts out of the cache. */
  readonly openViews?: ViewsOpener;
  /** Applications and projects that people entered. At most one provider has it. */
  readonly catalog?: Catalog;
  /** Tells what users may do. At most one provider has it, and only where authorization is on. */
  readonly authorizer?: Authorizer;
}

/** A provider as the registry lists it: a name and how to open it. Opening makes no network call. */
export interface ProviderPlugin {
  readonly name: string;
  /** How rows of its views are written, by view; those of other views are written as JSON. No two providers name one view. */
  readonly rowCodecs?: { readonly [view: string]: RowCodec };
  open(options: ProviderOptions): Provider;
  /**
   * The part of the settings that functions without secrets open this provider with, and with `credentials: 'withheld'`: fields that
   * are known to hold no secret, of accounts that were accepted. What is not known is left out.
   *
   * @param settings those that the provider was opened with
   */
  toPublicSettings(settings: JsonObject, opened: Provider): JsonObject;
}

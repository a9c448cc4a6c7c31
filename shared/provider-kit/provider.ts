import type { Authorizer } from '#access/authorizer.ts';
import type { Account, AccountWarning, AgentAuth, RejectedAccount } from '#accounts/model/account.ts';
import type { AccountBreakers } from '#accounts/model/account-breaker.ts';
import type { CredentialCheck } from '#accounts/model/account-form.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { RowCodec } from '#caching/store/packed-row.ts';
import type { ChangeReceiver, ChangeSender } from '#caching/store/wire-changes.ts';
import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import type { ConsoleOutput } from '#contract/answers/jobs.ts';
import type { ManifestCoordinates } from '#contract/answers/manifests.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import type { Operation } from '#tasks/operation.ts';
import type { Catalog } from '#views/catalog.ts';
import type { ImageViews } from '#views/images.ts';
import type { ViewsOpener } from '#views/views.ts';
import type { Artifact } from './artifact.ts';
import type { DiscoveryStore } from './discovery-store.ts';
import type { PlacementServices } from './placement-services.ts';
import type { RegistryCredentialSource } from './registry-credentials.ts';
import type { SharedClients } from './shared-clients.ts';

/** What a provider is opened with. */
export interface ProviderOptions {
  /** The merged Spinnaker configuration (`kubernetes.accounts`, `artifacts.http` …), placeholders resolved. */
  readonly settings: JsonObject;
  /**
   * Definitions of this provider's accounts that were made by an API: they win over those of the settings. The same definition is the
   * same object each time. Default: there are none.
   */
  readonly storedAccounts?: readonly JsonObject[];
  /** Clients that outlive this opening. Default: each opening has its own. */
  readonly clients?: SharedClients;
  /** What knows which accounts can be reached. Default: each client knows for itself. */
  readonly breakers?: AccountBreakers;
  /** Opens what processes share of what API servers serve. Default: each process asks for itself. */
  readonly openDiscoveryStore?: () => Promise<DiscoveryStore>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /**
   * Where kubeconfigs and credentials may come from. `local`: files and exec plugins of this machine are allowed.
   * `deployed`: they are refused, for the account that names them alone.
   */
  readonly placement: 'local' | 'deployed';
  /** Whether agents can reach the installation. Default: where the placement is `local`. */
  readonly servesAgents?: boolean;
  /**
   * `withheld` where the settings are what `toPublicSettings` made public: accounts can be looked at, but nothing can be reached
   * with them. Default `given`.
   */
  readonly credentials?: 'given' | 'withheld';
  /** Accounts that cannot be used for what their settings name, and why; see `ProviderPlugin.loadInspector`. Default: none. */
  readonly refusedAccounts?: readonly RejectedAccount[];
  /** Names of accounts of providers that were opened before: no account of this one may have them. Default: there are none. */
  readonly takenNames?: ReadonlySet<string>;
  /** Milliseconds between two runs of a caching agent whose account names none. Default 30 s. */
  readonly agentIntervalMs?: number;
  /** What this process may remember. Default: each that remembers has a bound of its own. */
  readonly remembered?: RememberedBytes;
  /** The process's environment: exec plugins inherit it, and a pod finds its API server in it. Default: empty. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** What the place of this process offers to accounts. Default: nothing. */
  readonly services?: PlacementServices;
  /** Finds the catalog that one of the providers opened with this one has. Not to be called while they are opened. Default: none has. */
  readonly findCatalog?: () => Catalog | undefined;
  /** Finds what gives the credentials of Docker registries. Not to be called while providers are opened. Default: none does. */
  readonly findRegistryCredentials?: () => RegistryCredentialSource | undefined;
  /** Opens the cache, so that what an operation wrote is seen at once. Default: it is seen with the next run of a caching agent. */
  readonly openCache?: () => Promise<CacheStore>;
  /** What takes what is cached of accounts in the place of a store, in a process that has none. Default: the store itself. */
  readonly changeSender?: ChangeSender;
  /** Lists of caching agents that are under way at a time go through it. Default: there is no limit. */
  readonly limitLists?: ConcurrencyLimit;
}

/** Which manifest to read. `location` is where the account keeps it, `''` for one that belongs to no location. */
export interface ManifestRequest {
  readonly account: string;
  readonly location: string;
  /** Full name, as Spinnaker writes it: kind, one space, name (`deployment web`). */
  readonly name: string;
  readonly includeEvents: boolean;
  /**
   * True to answer secret values, false to answer a mask in the place of each: they are for callers with WRITE on the account.
   */
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

/** Live reads of manifests, for a provider whose resources are described by some. It is Clouddriver's `ManifestProvider`. */
export interface ManifestReader {
  /**
   * The live object with its status, events and artifacts, ready for `JSON.stringify`.
   *
   * @throws NotFoundError for a malformed name and for an object that is absent, FailedOperationError when the read fails:
   *   UnreachableError because the account does not answer, or cannot.
   */
  getManifest(request: ManifestRequest): Promise<object>;
  /** Whether an object of this full name is one whose values are secret. */
  isSecret(name: string): boolean;
  /** Every object of the kind that belongs to the cluster and the application. */
  listClusterManifests(request: ClusterManifestsRequest): Promise<readonly ManifestCoordinates[]>;
  /**
   * The one that `criteria` picks: oldest, newest, second_newest, largest or smallest.
   *
   * @throws NotFoundError when there is none, InvalidInputError for an unknown criteria.
   */
  getDynamicManifest(request: ClusterManifestsRequest, criteria: string): Promise<ManifestCoordinates>;
}

/** Which job or instance. */
export interface ObjectRequest {
  readonly account: string;
  readonly location: string;
  /** Its name as the route has it, in the words of the provider (`job smoke`, `pod web-x7k2p`). */
  readonly name: string;
}

/** Which job to end. */
export interface JobDeletion extends ObjectRequest {
  /** Its identity, for who knows it. */
  readonly uid?: string | undefined;
}

/** Jobs, read live. It is Clouddriver's `JobProvider`. */
export interface JobReader {
  /**
   * A job's state, ready for `JSON.stringify`.
   *
   * @throws NotFoundError when there is no such job, FailedOperationError when the read fails.
   */
  getJob(request: ObjectRequest): Promise<object>;
  /**
   * Ends a job, with what it runs. It does not wait for the end. Where the request says which one, and that one is gone or another has
   * its name, nothing is done.
   *
   * @throws NotFoundError when there is no such job, FailedOperationError when it cannot be ended.
   */
  cancelJob(request: JobDeletion): Promise<void>;
  /** The properties that a job wrote to a file, or to what the provider has in place of files; none where there is no such file. */
  getFileContents(request: ObjectRequest, fileName: string): Promise<JsonObject>;
}

/** What instances write, read live. It has what Clouddriver's `InstanceProvider` has besides views of the cache. */
export interface InstanceReader {
  /**
   * What each part of an instance wrote.
   *
   * @throws NotFoundError when there is no such account, and for a name that no instance can have.
   */
  getConsoleOutput(request: ObjectRequest): Promise<readonly ConsoleOutput[]>;
  /** The properties that an instance wrote to a file, or to what the provider has in place of files; none where there is no such file. */
  getFileContents(request: ObjectRequest, fileName: string): Promise<JsonObject>;
}

/** A fetched artifact: its bytes as they arrive. */
export interface ArtifactContent {
  readonly body: AsyncIterable<Uint8Array>;
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
  /**
   * The names of the artifacts of an account. Left out where no kind can tell.
   *
   * @throws as `fetch`; NotFoundError when there is no such account, InvalidInputError when its kind cannot tell.
   */
  listNames?(account: ArtifactAccountQuery, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The versions of an artifact of an account, in the order of its host. Left out where no kind can tell.
   *
   * @throws as `listNames`; InvalidInputError when the account has no artifact of that name.
   */
  listVersions?(
    account: ArtifactAccountQuery,
    artifactName: string,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

/** Which artifact account is meant: accounts of different kinds may share a name. */
export interface ArtifactAccountQuery {
  readonly name: string;
  /** A type that it has. Empty: any account of that name. */
  readonly type: string;
}

/** An opened provider. A capability left out is one it lacks. */
export interface Provider extends AsyncDisposable {
  /**
   * What has to be closed of it, without anything that it knows of accounts: a process keeps it for some time after the provider was opened
   * anew, which may be each second. Default: the provider itself.
   */
  readonly closing?: AsyncDisposable;
  /** Provider id, for example `kubernetes`. */
  readonly name: string;
  readonly accounts: readonly Account[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** What whoever wrote the settings should know: whoever opens the provider logs it. */
  readonly accountWarnings?: readonly AccountWarning[];
  /**
   * Loads what it can do with its accounts: functions that only read load no operation. Each call of one opening gives the same. Default:
   * it has none.
   */
  loadOperations?(): Promise<readonly Operation[]>;
  /**
   * Further ids under which operations of it may be asked for, each with what loads those. Each call of one opening gives the same.
   * Default: there are none.
   */
  readonly operationAliases?: ReadonlyMap<string, () => Promise<readonly Operation[]>>;
  readonly manifests?: ManifestReader;
  readonly artifacts?: ArtifactFetcher;
  readonly jobs?: JobReader;
  readonly instances?: InstanceReader;
  /** Asks whether there are credentials for an account that is to be made, in a function that may reach what gives them. */
  readonly checkCredential?: CredentialCheck;
  /**
   * Whether calls of an account's platform are made: it is not known to be away, or has just said that it is back. Never rejects.
   * Default: they always are.
   */
  isReachable?(account: string): Promise<boolean>;
  /** Loads what keeps its accounts cached, for functions that run or schedule it. Each call of one opening gives the same. Default: nothing does. */
  loadCachingAgents?(): Promise<readonly CachingAgent[]>;
  /** Loads what takes changes of its accounts that other processes hand on: agents in clusters. Default: nothing does. */
  loadChangeReceiver?(): Promise<ChangeReceiver>;
  /** What is shown of its accounts out of the cache. */
  readonly openViews?: ViewsOpener;
  /** What is shown of its images out of the cache. */
  readonly images?: ImageViews;
  /** Gives other providers the credentials of its accounts, which are Docker registries. At most one provider has it. */
  readonly registryCredentials?: RegistryCredentialSource;
  /** Applications and projects that people entered. At most one provider has it. */
  readonly catalog?: Catalog;
  /** Tells what users may do. At most one provider has it, and only where authorization is on. */
  readonly authorizer?: Authorizer;
}

/** A file of this machine that tools of a platform keep their accounts in, parsed. */
export interface LocalFile {
  readonly path: string;
  readonly data: JsonObject;
}

/** Where settings are looked at. */
export interface InspectOptions extends Pick<ProviderOptions, 'placement'> {
  readonly environment: NonNullable<ProviderOptions['environment']>;
}

/** Looks at what settings name: files of this machine, texts within them. Nothing else is called. */
export interface SettingsInspector {
  /** The accounts that cannot be used for what is there, and why, in the words of the paths of settings. */
  findUnusable(settings: JsonObject, options: InspectOptions): Promise<readonly RejectedAccount[]>;
}

/**
 * The option by which a definition has an identity of this installation's own sent to a host that the definition chooses: such accounts
 * are for administrators. Undefined where there is none.
 *
 * @throws InvalidInputError where the settings do not allow the host
 */
export type IdentityCheck = (definition: JsonObject, settings: JsonObject) => string | undefined;

/** A definition without what is no option. */
export interface KeptOptions {
  readonly kept: JsonObject;
  /** A sentence for each member that was dropped. */
  readonly dropped: readonly string[];
}

/** A provider as the registry lists it: a name and how to open it. Opening makes no network call. */
export interface ProviderPlugin {
  readonly name: string;
  /**
   * Which secret its settings, those below its name, stand in when deployed: who has credentials of the one kind need not have those
   * of the other. Default `config`, where everything else of Spinnaker's YAML stands.
   */
  readonly settingsSecret?: 'config' | 'artifacts';
  /**
   * Paths of the settings that it reads, or knows to be of no effect here; what stands below one, it looks at itself. A `*` stands for
   * each item of a list. Whatever else stands beside them is told as unknown. Default: all that is below its name.
   */
  readonly knownSettings?: readonly string[];
  /** Whether its accounts may be made by an API. Default false. */
  readonly storesAccounts?: boolean;
  /** Takes out of a definition what is no option of its accounts. Default: nothing is. */
  keepOptions?(definition: JsonObject): KeptOptions;
  /** Options of an account, as dotted paths, that may hold a secret: nobody is shown their values. Default: there are none. */
  readonly secretOptions?: readonly string[];
  /** Options of an account, as dotted paths, that say where its secrets are sent. Default: there are none. */
  readonly secretDestinations?: readonly string[];
  /** Options of an account, as dotted paths, that name a secret in words that are no reference to one. Default: there are none. */
  readonly secretNameOptions?: readonly string[];
  /** Which of them hold one in a definition, and not a reference to one. Default: none does. */
  findPlainSecrets?(definition: JsonObject): readonly string[];
  /** Loads what looks where a definition has identities of this installation's own sent. Default: no definition does that. */
  loadIdentityCheck?(): Promise<IdentityCheck>;
  /**
   * Options of an account that say how its cluster is reached from here: one that agents serve has none of them. Left out where agents
   * serve no accounts.
   */
  readonly reachOptions?: readonly string[];
  /**
   * By what the agents of an account prove who they are, of a definition. Left out where agents serve no accounts.
   *
   * @returns undefined for one without agents
   * @throws InvalidInputError for one of no use
   */
  readAgentAuth?(definition: JsonObject): AgentAuth | undefined;
  /**
   * Loads what looks at the settings each time they are read: what stands in a file may be mended without a change of any setting. It
   * may remember what it saw. Default: opening looks at all there is to see.
   */
  loadInspector?(): Promise<SettingsInspector>;
  /** How rows of its views are written, by view; those of other views are written as JSON. No two providers name one view. */
  readonly rowCodecs?: { readonly [view: string]: RowCodec };
  open(options: ProviderOptions): Provider;
  /**
   * The part of the settings that functions without secrets open this provider with, and with `credentials: 'withheld'`: fields that
   * are known to hold no secret, of accounts that were accepted. What is not known is left out.
   *
   * @param settings those that the provider was opened with
   * @param storedAccounts the same. Default: there are none
   */
  toPublicSettings(
    settings: JsonObject,
    opened: Pick<Provider, 'accounts' | 'artifacts'>,
    storedAccounts?: readonly JsonObject[],
  ): JsonObject;
  /**
   * The settings that files of the platform's own tools amount to, on a machine without any of Spinnaker's: for kubeconfigs one account
   * for each context. At most one plug-in has it.
   *
   * @throws InvalidInputError naming the file, and never quoting it.
   */
  toLocalSettings?(files: readonly LocalFile[]): JsonObject;
  /**
   * Puts the text of files in the place of their paths, for settings that bring such files along, as a SpinnakerService does.
   *
   * @param findFile the text of a file by its path; undefined for one that did not come along.
   */
  inlineFiles?(settings: JsonObject, findFile: (path: string) => string | undefined): JsonObject;
}

import type { Authorizer } from '#access/authorizer.ts';
import type { Account, AccountWarning, AgentAuth, RejectedAccount } from '#accounts/model/account.ts';
import type { AccountBreakers } from '#accounts/model/account-breaker.ts';
import type { CredentialCheck } from '#accounts/model/account-form.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { RowCodec } from '#caching/store/packed-row.ts';
import type { ChangeSender } from '#caching/store/wire-changes.ts';
import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import type { Catalog } from '#views/catalog.ts';
import type { Artifact } from './artifact.ts';
import type { CloudProvider } from './cloud-provider.ts';
import type { DiscoveryStore } from './discovery-store.ts';
import type { HostServices } from './host-services.ts';
import type { RegistryCredentialSource } from './registry-credentials.ts';
import type { SharedClients } from './shared-clients.ts';
import type { StoredAccounts } from './stored-accounts.ts';

/** What a provider is opened with. */
export interface ProviderContext {
  /** The merged Spinnaker configuration (`kubernetes.accounts`, `artifacts.http` …), placeholders resolved. */
  readonly settings: JsonObject;
  /** What is known of its accounts beside the settings. Default: nothing. */
  readonly accounts?: GivenAccounts;
  /** The cache of its accounts. Default: there is none. */
  readonly cache?: CacheAccess;
  /** The plug-ins opened with this one. Default: there are none. */
  readonly peers?: Peers;
  /** Clients that outlive this opening. Default: each opening has its own. */
  readonly clients?: SharedClients;
  /** Knows which accounts can be reached. Default: each client knows for itself. */
  readonly breakers?: AccountBreakers;
  /** Opens the store where processes share what API servers serve. Default: each process asks for itself. */
  readonly openDiscoveryStore?: () => Promise<DiscoveryStore>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /**
   * Where kubeconfigs and credentials may come from. `local`: files and exec plugins of this machine are allowed. `deployed`: they are
   * refused, but only for the account that names them.
   */
  readonly placement: 'local' | 'deployed';
  /** Whether agents can reach the installation. Default: if the placement is `local`. */
  readonly servesAgents?: boolean;
  /** `withheld` where settings are those of `toPublicSettings`: accounts are known, nothing can be reached. Default `given`. */
  readonly credentials?: 'given' | 'withheld';
  /** Milliseconds between two runs of a caching agent whose account names none. Default 30 s. */
  readonly agentIntervalMs?: number;
  /** How many bytes this process may remember. Default: each memory has its own limit. */
  readonly remembered?: RememberedBytes;
  /** The process's environment: exec plugins inherit it, and a pod finds its API server in it. Default: empty. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** What the place of this process offers to accounts. Default: nothing. */
  readonly services?: HostServices;
}

/** What is known of a plug-in's accounts beside the settings. */
export interface GivenAccounts {
  /**
   * Definitions that were created by an API: they win over those of the settings. The same definition is the same object each time. Default:
   * none.
   */
  readonly stored?: readonly JsonObject[];
  /** Accounts that something named by their settings makes unusable, and why; see `ProviderPlugin.loadInspector`. Default: none. */
  readonly refused?: readonly RejectedAccount[];
  /** Names of accounts of plug-ins opened earlier: no account of this one may have them. Default: none. */
  readonly takenNames?: ReadonlySet<string>;
}

/** How a plug-in reaches the cache. */
export interface CacheAccess {
  /** Opens it, so that an operation's writes are seen at once. Default: they are seen with the next run of a caching agent. */
  readonly open?: () => Promise<CacheStore>;
  /** Takes what is cached of accounts in place of a store, in a process without one. Default: the store itself. */
  readonly changeSender?: ChangeSender;
  /** Limits how many lists of caching agents run at a time. Default: no limit. */
  readonly limitLists?: ConcurrencyLimit;
}

/** The plug-ins of one opening. Do not ask for anything while they are opened. */
export interface Peers {
  /** The catalog of applications and projects; undefined when none has one. */
  findCatalog(): Catalog | undefined;
  /** The source of credentials of Docker registries; undefined when there is none. */
  findRegistryCredentials(): RegistryCredentialSource | undefined;
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
   * The names of the artifacts of an account. Left out where no kind can list them.
   *
   * @throws as `fetch`; NotFoundError when there is no such account, InvalidInputError when its kind cannot list them.
   */
  listNames?(account: ArtifactAccountQuery, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The versions of an artifact of an account, in the order of its host. Left out where no kind can list them.
   *
   * @throws as `listNames`; InvalidInputError when the account has no artifact of that name.
   */
  listVersions?(
    account: ArtifactAccountQuery,
    artifactName: string,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

/** Which artifact account: accounts of different kinds may share a name. */
export interface ArtifactAccountQuery {
  readonly name: string;
  /** A type of it. Empty: any account of that name. */
  readonly type: string;
}

/** What a plug-in offers to all of Busdriver, whatever the cloud. A member left out is one it lacks. */
interface ServiceProvider {
  readonly artifacts?: ArtifactFetcher;
  /** Gives other plug-ins the credentials of its accounts, which are Docker registries. At most one plug-in has it. */
  readonly registryCredentials?: RegistryCredentialSource;
  /** The catalog of applications and projects. At most one plug-in has it. */
  readonly catalog?: Catalog;
  /** Knows what users may do. At most one plug-in has it, and only where authorization is on. */
  readonly authorizer?: Authorizer;
}

/** An opened plug-in: cloud providers, services, or both. */
export interface Provider extends ServiceProvider, AsyncDisposable {
  /**
   * What has to be closed, without references to accounts: a process keeps it for some time after the plug-in was opened again, which may
   * be each second. Default: the plug-in itself.
   */
  readonly closing?: AsyncDisposable;
  /** The plug-in's name, for example `kubernetes`. */
  readonly name: string;
  /** Its cloud providers, which have its accounts. Of several only the first counts without accounts. Default: none. */
  readonly clouds?: readonly CloudProvider[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Warnings for the author of the settings: the opener of the plug-in logs them. */
  readonly accountWarnings?: readonly AccountWarning[];
  /** Checks whether there are credentials for an account to be created, in a function that may reach their source. */
  readonly checkCredential?: CredentialCheck;
}

/** What an opened plug-in shows of its accounts. */
export interface OpenedAccounts {
  readonly accounts: readonly Account[];
  readonly artifacts?: Pick<ArtifactFetcher, 'accounts'> | undefined;
}

/** A parsed file on this machine in which a platform's tools keep their accounts. */
export interface LocalFile {
  readonly path: string;
  readonly data: JsonObject;
}

/** How a plug-in reads such files. */
interface LocalFiles {
  /**
   * The settings of accounts in files, on a machine without any of Spinnaker's: for kubeconfigs one account for each context.
   *
   * @throws InvalidInputError naming the file, and never quoting it.
   */
  toSettings(files: readonly LocalFile[]): JsonObject;
  /**
   * Replaces paths of files by their texts, for settings that include such files, as a SpinnakerService does.
   *
   * @param findFile the text of a file by its path; undefined for one that is not included.
   */
  inline(settings: JsonObject, findFile: (path: string) => string | undefined): JsonObject;
}

/** How agents serve accounts. */
interface AgentOptions {
  /** Options of an account about reaching its platform: one that agents serve has none of them. */
  readonly reachOptions: readonly string[];
  /** Options that would give an agent credentials: requests with them are refused. */
  readonly credentialOptions: readonly string[];
  /**
   * How the agents of a definition's account prove their identity.
   *
   * @returns undefined for one without agents
   * @throws InvalidInputError for an invalid one
   */
  readAuth(definition: JsonObject): AgentAuth | undefined;
}

/** Where settings are inspected. */
export interface InspectOptions extends Pick<ProviderContext, 'placement'> {
  readonly environment: NonNullable<ProviderContext['environment']>;
}

/** Inspects what settings name: files of this machine, texts within them. It calls nothing else. */
export interface SettingsInspector {
  /** The accounts that cannot be used because of what it found, and why, with the paths of settings. */
  findUnusable(settings: JsonObject, options: InspectOptions): Promise<readonly RejectedAccount[]>;
}

/** A provider as the registry lists it: a name and how to open it. Opening makes no network call. */
export interface ProviderPlugin {
  readonly name: string;
  /**
   * The secret that has its settings, those below its name, when deployed: functions with one kind of credentials need not have the other.
   * Default `config`, which has everything else of Spinnaker's YAML.
   */
  readonly settingsSecret?: 'config' | 'artifacts';
  /**
   * Paths of the settings that it reads, or knows to have no effect; it checks what is below them itself. A `*` means each item of a list.
   * Anything else beside them is reported as unknown. Default: everything below its name.
   */
  readonly knownSettings?: readonly string[];
  /** How an API creates its accounts. Left out where none does. */
  readonly storedAccounts?: StoredAccounts;
  /** How agents in clusters serve its accounts. Left out where none do. */
  readonly agents?: AgentOptions;
  /**
   * Loads an inspector, called each time the settings are read: a file may be mended without a change of any setting. It may remember what
   * it saw. Default: opening inspects everything.
   */
  loadInspector?(): Promise<SettingsInspector>;
  /** How rows of its views are written, by view; those of other views are JSON. No two providers share the name of a view. */
  readonly rowCodecs?: { readonly [view: string]: RowCodec };
  open(options: ProviderContext): Provider;
  /**
   * The part of the settings with which functions without secrets open this provider, with `credentials: 'withheld'`: fields that are known
   * to hold no secret, of accepted accounts. Unknown fields are left out.
   *
   * @param settings those that the provider was opened with
   * @param storedAccounts the same. Default: none
   */
  toPublicSettings(
    settings: JsonObject,
    opened: OpenedAccounts,
    storedAccounts?: readonly JsonObject[],
  ): JsonObject;
  /** Files in which the platform's own tools keep accounts, such as kubeconfigs. At most one plug-in has it. */
  readonly localFiles?: LocalFiles;
}

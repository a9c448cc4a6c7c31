import type { Authorizer } from '#access/authorizer.ts';
import type { Account, AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { NotFoundError } from '#core/errors.ts';
import { compareText } from '#core/text-order.ts';
import type { Operation } from '#tasks/operation.ts';
import type { Catalog } from '#views/catalog.ts';
import type { Artifact } from './artifact.ts';
import { artifactAccountNotFound, cannotTell, isMeant } from './artifact-account.ts';
import type {
  ArtifactAccountQuery,
  ArtifactFetcher,
  InstanceReader,
  JobReader,
  ManifestReader,
  Provider,
} from './provider.ts';
import type { RegistryCredentialSource } from './registry-credentials.ts';

/** All opened providers as one: finds providers, operations and accounts. */
export class ProviderSet implements AsyncDisposable {
  readonly providers: readonly Provider[];
  /** Every account, by name. */
  readonly accounts: readonly Account[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  readonly accountWarnings: readonly AccountWarning[];
  readonly #accounts: ReadonlyMap<string, { account: Account; provider: Provider }>;
  /** By the id of a provider or an alias, once it was asked for. */
  readonly #operations = new Map<string, Promise<ReadonlyMap<string, Operation>>>();

  /**
   * @param rejectedAccounts accounts that were left out before providers were opened.
   * @param warnings further warnings besides those of the providers.
   */
  constructor(
    providers: readonly Provider[],
    rejectedAccounts: readonly RejectedAccount[] = [],
    warnings: readonly AccountWarning[] = [],
  ) {
    this.providers = providers;
    this.rejectedAccounts = [
      ...rejectedAccounts,
      ...providers.flatMap((provider) => provider.rejectedAccounts),
    ];
    this.accountWarnings = [...warnings, ...providers.flatMap(({ accountWarnings = [] }) => accountWarnings)];
    this.#accounts = new Map(
      providers.flatMap((provider) =>
        provider.accounts.map((account) => [account.name, { account, provider }] as const),
      ),
    );
    this.accounts = [...this.#accounts.values()].map(({ account }) => account).sort(compareNames);
  }

  /** The provider of that id; undefined if there is none. */
  findProvider(name: string): Provider | undefined {
    return this.providers.find((provider) => provider.name === name);
  }

  /** Whether operations may be asked for under that id: a provider's own, or an alias of it. */
  takesOperations(name: string): boolean {
    return this.#findOperationLoader(name) !== undefined;
  }

  /** The operation of a provider, by its id or an alias; undefined if there is none. */
  async findOperation(provider: string, name: string): Promise<Operation | undefined> {
    return (await this.#loadOperations(provider)).get(name);
  }

  /** Names of the operations of a provider, or of an alias, in its order; none of an unknown one. */
  async listOperationNames(provider: string): Promise<readonly string[]> {
    return [...(await this.#loadOperations(provider)).keys()];
  }

  /** The account; undefined if there is none. */
  findAccount(name: string): Account | undefined {
    return this.#accounts.get(name)?.account;
  }

  /** The account. @throws NotFoundError */
  getAccount(name: string): Account {
    const account = this.findAccount(name);
    if (account === undefined) throw accountNotFound(name);
    return account;
  }

  /** The reader of an account's manifests. @throws NotFoundError when the account is unknown or has no manifests. */
  getManifestReader(account: string): ManifestReader {
    const reader = this.#accounts.get(account)?.provider.manifests;
    if (reader === undefined) throw accountNotFound(account);
    return reader;
  }

  /** The reader of an account's jobs. @throws NotFoundError when the account is unknown or has no jobs. */
  getJobReader(account: string): JobReader {
    const reader = this.#accounts.get(account)?.provider.jobs;
    if (reader === undefined) throw accountNotFound(account);
    return reader;
  }

  /** The reader of an account's instances. @throws NotFoundError when the account is unknown or has none. */
  getInstanceReader(account: string): InstanceReader {
    const reader = this.#accounts.get(account)?.provider.instances;
    if (reader === undefined) throw accountNotFound(account);
    return reader;
  }

  /** Whether an account's platform is called, as `Provider.isReachable`; calls for an unknown account fail anyway. */
  async isReachable(account: string): Promise<boolean> {
    return (await this.#accounts.get(account)?.provider.isReachable?.(account)) ?? true;
  }

  /** The fetcher of artifacts of all providers; undefined when none has one. */
  findArtifactFetcher(): Required<ArtifactFetcher> | undefined {
    const fetchers = this.providers.flatMap(({ artifacts }) => artifacts ?? []);
    const [first] = fetchers;
    if (first === undefined) return undefined;
    return {
      accounts: fetchers.flatMap(({ accounts }) => accounts),
      // The first one has the error for an artifact whose account none of them has.
      fetch: (artifact, signal) =>
        (fetchers.find((fetcher) => hasAccount(fetcher, artifact)) ?? first).fetch(artifact, signal),
      async listNames(account, signal) {
        const fetcher = getFetcher(fetchers, account);
        if (fetcher.listNames === undefined) throw cannotTell(account, 'names');
        return fetcher.listNames(account, signal);
      },
      async listVersions(account, artifactName, signal) {
        const fetcher = getFetcher(fetchers, account);
        if (fetcher.listVersions === undefined) throw cannotTell(account, 'versions');
        return fetcher.listVersions(account, artifactName, signal);
      },
    };
  }

  /** The catalog of applications and projects; undefined when no provider has one. */
  findCatalog(): Catalog | undefined {
    return this.providers.find((provider) => provider.catalog !== undefined)?.catalog;
  }

  /** The source of credentials of Docker registries; undefined when no provider has one. */
  findRegistryCredentials(): RegistryCredentialSource | undefined {
    return this.providers.find((provider) => provider.registryCredentials !== undefined)?.registryCredentials;
  }

  /** The authorizer of users; undefined while authorization by Fiat is off. */
  findAuthorizer(): Authorizer | undefined {
    return this.providers.find((provider) => provider.authorizer !== undefined)?.authorizer;
  }

  /** The caching agents of all providers' accounts. */
  async loadCachingAgents(): Promise<readonly CachingAgent[]> {
    const agents = await Promise.all(this.providers.map(async (provider) => provider.loadCachingAgents?.()));
    return agents.flatMap((some = []) => some);
  }

  /** Stores nothing for an unknown provider: callers may make up any number of them. */
  async #loadOperations(name: string): Promise<ReadonlyMap<string, Operation>> {
    const load = this.#findOperationLoader(name);
    if (load === undefined) return new Map();
    const known = this.#operations.get(name);
    if (known !== undefined) return known;
    const loading = load().then((operations) => new Map(operations.map((each) => [each.name, each])));
    this.#operations.set(name, loading);
    // A failed load is tried again by the next caller.
    loading.catch(() => this.#operations.delete(name));
    return loading;
  }

  #findOperationLoader(name: string): (() => Promise<readonly Operation[]>) | undefined {
    const provider = this.findProvider(name);
    if (provider !== undefined) return async () => (await provider.loadOperations?.()) ?? [];
    for (const { operationAliases } of this.providers) {
      const load = operationAliases?.get(name);
      if (load !== undefined) return load;
    }
    return undefined;
  }

  /** What has to be closed when the providers are not used any more. */
  listClosings(): readonly AsyncDisposable[] {
    return this.providers.map((provider) => provider.closing ?? provider);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.listClosings().map((closing) => closing[Symbol.asyncDispose]()));
  }
}

/** Whether it has the account that an artifact names. Accounts of different kinds may share a name. */
function hasAccount({ accounts }: ArtifactFetcher, { artifactAccount, type = '' }: Artifact): boolean {
  return accounts.some(({ name, types }) => name === artifactAccount && types.includes(type));
}

/** The fetcher with the account of a query. @throws NotFoundError when there is none. */
function getFetcher(fetchers: readonly ArtifactFetcher[], query: ArtifactAccountQuery): ArtifactFetcher {
  const fetcher = fetchers.find(({ accounts }) => accounts.some((account) => isMeant(account, query)));
  if (fetcher === undefined) throw artifactAccountNotFound(query);
  return fetcher;
}

function accountNotFound(name: string): NotFoundError {
  return new NotFoundError(`Account '${name}' not found; GET /credentials lists the accounts there are`);
}

function compareNames(one: Account, other: Account): number {
  return compareText(one.name, other.name);
}

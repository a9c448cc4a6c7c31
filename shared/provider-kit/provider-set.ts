import type { Authorizer } from '#access/authorizer.ts';
import type { Account, AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { once } from '#core/once.ts';
import { compareText } from '#core/text-order.ts';
import type { Operation } from '#tasks/operation.ts';
import type { Catalog } from '#views/catalog.ts';
import type { Artifact } from './artifact.ts';
import { artifactAccountNotFound, cannotTell, isMeant } from './artifact-account.ts';
import type { CloudProvider } from './cloud-provider.ts';
import type { LiveReads } from './live-reads.ts';
import { findAccountName } from './operation-definition.ts';
import type { ArtifactAccountQuery, ArtifactFetcher, OpenedAccounts, Provider } from './provider.ts';
import type { RegistryCredentialSource } from './registry-credentials.ts';

/** All opened plug-ins as one: finds cloud providers, operations and accounts. */
export class ProviderSet implements AsyncDisposable {
  readonly providers: readonly Provider[];
  readonly clouds: readonly OpenedCloud[];
  /** Every account, by name. */
  readonly accounts: readonly Account[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  readonly accountWarnings: readonly AccountWarning[];
  readonly #accounts: ReadonlyMap<string, { account: Account; cloud: OpenedCloud }>;
  /** Those without accounts, too. */
  readonly #all: readonly OpenedCloud[];

  /**
   * @param rejectedAccounts accounts that were left out before plug-ins were opened.
   * @param warnings further warnings besides those of the plug-ins.
   */
  constructor(
    providers: readonly Provider[],
    rejectedAccounts: readonly RejectedAccount[] = [],
    warnings: readonly AccountWarning[] = [],
  ) {
    this.providers = providers;
    const opened = providers.map(({ clouds = [] }) => clouds.map(toOpenedCloud));
    this.#all = opened.flat();
    this.clouds = opened.flatMap((own) =>
      own.filter(({ accounts }, index) => index === 0 || accounts.length > 0),
    );
    this.rejectedAccounts = [
      ...rejectedAccounts,
      ...providers.flatMap((provider) => provider.rejectedAccounts),
    ];
    this.accountWarnings = [...warnings, ...providers.flatMap(({ accountWarnings = [] }) => accountWarnings)];
    this.#accounts = new Map(
      this.#all.flatMap((cloud) =>
        cloud.accounts.map((account) => [account.name, { account, cloud }] as const),
      ),
    );
    this.accounts = [...this.#accounts.values()].map(({ account }) => account).sort(compareNames);
  }

  /** The plug-in of that name; undefined if there is none. */
  findProvider(name: string): Provider | undefined {
    return this.providers.find((provider) => provider.name === name);
  }

  /** What a plug-in shows of its accounts; nothing of an unknown one. @param names Default: all of them */
  getOpenedAccounts(plugin: string, names?: ReadonlySet<string>): OpenedAccounts {
    const { clouds = [], artifacts } = this.findProvider(plugin) ?? {};
    const accounts = clouds.flatMap((cloud) => cloud.accounts);
    return { accounts: accounts.filter(({ name }) => names?.has(name) ?? true), artifacts };
  }

  /** Whether operations may be asked for under that id: a cloud provider's own, or an alias of its operations. */
  takesOperations(id: string): boolean {
    return this.#listAsked(id).length > 0;
  }

  /**
   * The operation of a cloud provider, by its id or an alias, for the account of a description; for an unknown account the first of that
   * name, which refuses it. Undefined if there is none.
   */
  async findOperation(id: string, name: string, description: JsonObject): Promise<Operation | undefined> {
    for (const cloud of this.#listAsked(id, description)) {
      const found = (await cloud.loadOperations()).get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Names of the operations of a cloud provider, or of an alias, in its order, each once; none of an unknown one. */
  async listOperationNames(id: string, description: JsonObject = {}): Promise<readonly string[]> {
    const asked = this.#listAsked(id, description);
    const all = await Promise.all(asked.map((cloud) => cloud.loadOperations()));
    return [...new Set(all.flatMap((operations) => [...operations.keys()]))];
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

  /** The cloud provider of an account; undefined if there is no such account. */
  findCloud(account: string): OpenedCloud | undefined {
    return this.#accounts.get(account)?.cloud;
  }

  /** A reader of an account's platform. @throws NotFoundError when the account is unknown, or its platform has nothing of that sort. */
  async getLiveReader<Sort extends keyof LiveReads>(
    account: string,
    sort: Sort,
  ): Promise<NonNullable<LiveReads[Sort]>> {
    const cloud = this.findCloud(account);
    if (cloud === undefined) throw accountNotFound(account);
    const reader = (await cloud.loadLiveReads())[sort];
    if (reader === undefined) throw new NotFoundError(`Account '${account}' has no ${sort}`);
    return reader;
  }

  /** Whether an account's platform is called, as `CloudProvider.isReachable`; calls for an unknown account fail anyway. */
  async isReachable(account: string): Promise<boolean> {
    return (await this.findCloud(account)?.isReachable?.(account)) ?? true;
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

  /** The caching agents of all accounts. */
  async loadCachingAgents(): Promise<readonly CachingAgent[]> {
    return (await Promise.all(this.clouds.map((cloud) => cloud.loadCachingAgents()))).flat();
  }

  /** The cloud providers of an id, or else those with that alias. @param description restricts them to that of its account, if that is known */
  #listAsked(id: string, description: JsonObject = {}): readonly OpenedCloud[] {
    const named = this.clouds.filter(({ name }) => name === id);
    const meant = named.length > 0 ? named : this.#all.filter(({ operations }) => operations?.alias === id);
    const owner = this.findCloud(findAccountName(description));
    return owner !== undefined && meant.includes(owner) ? [owner] : meant;
  }

  /** What has to be closed when the providers are not used any more. */
  listClosings(): readonly AsyncDisposable[] {
    return this.providers.map((provider) => provider.closing ?? provider);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.listClosings().map((closing) => closing[Symbol.asyncDispose]()));
  }
}

/** A cloud provider whose parts are loaded when they are first needed, once. */
interface OpenedCloud extends CloudProvider {
  loadOperations(): Promise<ReadonlyMap<string, Operation>>;
  loadCachingAgents(): Promise<readonly CachingAgent[]>;
  loadLiveReads(): Promise<LiveReads>;
}

function toOpenedCloud(cloud: CloudProvider): OpenedCloud {
  return {
    ...cloud,
    loadOperations: once(async () => {
      const operations = (await cloud.operations?.load()) ?? [];
      return new Map(operations.map((operation) => [operation.name, operation]));
    }),
    loadCachingAgents: once(async () => (await cloud.caching?.loadAgents()) ?? []),
    loadLiveReads: once(async () => (await cloud.loadLiveReads?.()) ?? {}),
  };
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

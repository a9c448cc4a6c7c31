import type { Authorizer } from '../access/authorizer.ts';
import { NotFoundError } from '../errors.ts';
import type { Account, AccountWarning, RejectedAccount } from '../settings/account.ts';
import type { Operation } from '../tasks/operation.ts';
import { compareText } from '../text-order.ts';
import type { Catalog } from '../views/catalog.ts';
import type { Artifact } from './artifact.ts';
import type { ArtifactFetcher, JobReader, ManifestReader, Provider } from './provider.ts';

/** All opened providers as one: look-ups by provider, operation and account. */
export class ProviderSet implements AsyncDisposable {
  readonly providers: readonly Provider[];
  /** Every account, by name. */
  readonly accounts: readonly Account[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  readonly accountWarnings: readonly AccountWarning[];
  readonly #accounts: ReadonlyMap<string, { account: Account; provider: Provider }>;
  readonly #operations: ReadonlyMap<string, Operation>;

  /** @param rejectedAccounts accounts that were left out before providers were opened. */
  constructor(providers: readonly Provider[], rejectedAccounts: readonly RejectedAccount[] = []) {
    this.providers = providers;
    this.rejectedAccounts = [
      ...rejectedAccounts,
      ...providers.flatMap((provider) => provider.rejectedAccounts),
    ];
    this.accountWarnings = providers.flatMap(({ accountWarnings = [] }) => accountWarnings);
    this.#accounts = new Map(
      providers.flatMap((provider) =>
        provider.accounts.map((account) => [account.name, { account, provider }] as const),
      ),
    );
    this.accounts = [...this.#accounts.values()].map(({ account }) => account).sort(compareNames);
    this.#operations = new Map(
      providers.flatMap((provider) =>
        provider.operations.map((operation) => [`${provider.name}/${operation.name}`, operation] as const),
      ),
    );
  }

  /** The provider of that id, or undefined. */
  findProvider(name: string): Provider | undefined {
    return this.providers.find((provider) => provider.name === name);
  }

  /** The operation of a provider, or undefined. */
  findOperation(provider: string, name: string): Operation | undefined {
    return this.#operations.get(`${provider}/${name}`);
  }

  /** The account, or undefined. */
  findAccount(name: string): Account | undefined {
    return this.#accounts.get(name)?.account;
  }

  /** The account. @throws NotFoundError */
  getAccount(name: string): Account {
    const account = this.findAccount(name);
    if (account === undefined) throw accountNotFound(name);
    return account;
  }

  /** What reads the manifests of an account. @throws NotFoundError when the account is unknown or has no manifests. */
  getManifestReader(account: string): ManifestReader {
    const reader = this.#accounts.get(account)?.provider.manifests;
    if (reader === undefined) throw accountNotFound(account);
    return reader;
  }

  /** What reads the jobs of an account. @throws NotFoundError when the account is unknown or has no jobs. */
  getJobReader(account: string): JobReader {
    const reader = this.#accounts.get(account)?.provider.jobs;
    if (reader === undefined) throw accountNotFound(account);
    return reader;
  }

  /** What fetches artifacts, of all providers that do; undefined when none does. */
  findArtifactFetcher(): ArtifactFetcher | undefined {
    const fetchers = this.providers.flatMap(({ artifacts }) => artifacts ?? []);
    const [first] = fetchers;
    if (first === undefined || fetchers.length === 1) return first;
    return {
      accounts: fetchers.flatMap(({ accounts }) => accounts),
      // The first one says what is wrong with an artifact of an account that none has.
      fetch: (artifact, signal) =>
        (fetchers.find((fetcher) => hasAccount(fetcher, artifact)) ?? first).fetch(artifact, signal),
    };
  }

  /** What people entered of applications and projects; undefined when no provider has it. */
  findCatalog(): Catalog | undefined {
    return this.providers.find((provider) => provider.catalog !== undefined)?.catalog;
  }

  /** What tells what users may do; undefined when nobody is asked, because authorization by Fiat is off. */
  findAuthorizer(): Authorizer | undefined {
    return this.providers.find((provider) => provider.authorizer !== undefined)?.authorizer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.providers.map((provider) => provider[Symbol.asyncDispose]()));
  }
}

/** Whether it has the account that an artifact names. Accounts of different kinds may share a name. */
function hasAccount({ accounts }: ArtifactFetcher, { artifactAccount, type = '' }: Artifact): boolean {
  return accounts.some(({ name, types }) => name === artifactAccount && types.includes(type));
}

function accountNotFound(name: string): NotFoundError {
  return new NotFoundError(`Account '${name}' not found; GET /credentials lists the accounts there are`);
}

function compareNames(one: Account, other: Account): number {
  return compareText(one.name, other.name);
}

import { createHash } from 'node:crypto';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { type ClientUse, SharedClients } from '#provider-kit/shared-clients.ts';
import { bindKeys } from '#settings/spring-config.ts';
import type { KubernetesClientOptions } from '../client/kubernetes-client.ts';
import type { KubernetesAccount } from './account.ts';
import type { AccountConnection } from './account-connection.ts';
import { createAwsConnectionOptions } from './aws-connection-options.ts';
import { createServerCredential } from './server-credential.ts';
import { TokenBrokers } from './token-brokers.ts';

/** Options without what is known of other accounts. */
type ClientOptions = Omit<ProviderContext, 'accounts' | 'peers'>;

/** The sorts of clients that an account has. */
export type ClientSort = 'client' | 'watch' | 'agents';

/** One client for each account, made when it is first needed, and shared with other openings that reach it in the same way. */
export class AccountClients<Client extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: ClientOptions;
  readonly #sort: ClientSort;
  readonly #shared: SharedClients;
  readonly #open: (options: KubernetesClientOptions) => Promise<Client>;
  readonly #clients = new Map<string, ClientUse<Client>>();
  #settings: string | undefined;
  readonly #brokers: TokenBrokers;

  /** @param open makes a client. It should load what it needs late: code that only looks at accounts must not pay for it. */
  constructor(
    options: ProviderContext,
    sort: ClientSort,
    open: (options: KubernetesClientOptions) => Promise<Client>,
  ) {
    // These clients, and the clients they make, outlive the opening: they must not keep all accounts that it knew in memory.
    const { accounts: _, peers: __, ...kept } = options;
    this.#options = kept;
    this.#sort = sort;
    this.#shared = kept.clients ?? new SharedClients();
    this.#open = open;
    this.#brokers = new TokenBrokers(kept);
  }

  /**
   * The account's client, the same each time.
   *
   * @throws FailedOperationError for an account that only its agent reaches; Error where the function is given no credentials.
   */
  get({ connection }: Pick<KubernetesAccount, 'connection'>): Promise<Client> {
    const known = this.#clients.get(connection.name);
    if (known !== undefined) return known.client;
    if (connection.isAgents) return Promise.reject(refuseDirectCall(connection.name));
    if (this.#options.credentials === 'withheld') {
      return Promise.reject(new Error(`this function has no credentials of account ${connection.name}`));
    }
    const use = this.#shared.use(this.#toKey(connection), () => this.#openClient(connection));
    this.#clients.set(connection.name, use);
    return use.client;
  }

  /** Reports what the account's settings ask for and its cluster refuses; empty for nothing. Never rejects. */
  async noteWarning({ connection }: Pick<KubernetesAccount, 'connection'>, warning: string): Promise<void> {
    await this.#getBreaker(connection)?.noteWarning(warning);
  }

  /** When the account's cluster last accepted its credentials, wall time in milliseconds; undefined if unknown. Never rejects. */
  async findLastSuccessMs(account: Pick<KubernetesAccount, 'connection'>): Promise<number | undefined> {
    return this.#getBreaker(account.connection)?.findLastSuccessMs();
  }

  /** Closes those that no other opening uses. */
  async [Symbol.asyncDispose](): Promise<void> {
    const uses = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(uses.map((use) => use.release()));
  }

  #openClient(connection: AccountConnection): Promise<Client> {
    const { clock, randomness, log, placement, environment = {} } = this.#options;
    return this.#open({
      breaker: this.#getBreaker(connection),
      connection: { ...connection, placement },
      openDiscoveryStore: this.#options.openDiscoveryStore,
      clock,
      randomness,
      log,
      environment,
      ...createAwsConnectionOptions(connection, this.#options),
      serverCredential: createServerCredential(connection, this.#brokers, this.#options),
    });
  }

  #getBreaker(connection: AccountConnection) {
    return this.#options.breakers?.get(connection.name, this.#toKey(connection, 'client'));
  }

  /** The key holds no secret, though its parts may. It covers settings outside the account too, as they may affect any account. */
  #toKey(connection: AccountConnection, sort = this.#sort): string {
    this.#settings ??= hash(withoutAccounts(this.#options.settings));
    return hash([sort, this.#settings, connection]);
  }
}

/** The error for an account that only its agent reaches. */
function refuseDirectCall(account: string): Error {
  return new FailedOperationError(
    `Account ${account} is reached by its agent alone, which so far runs operations and answers no reads`,
  );
}

function withoutAccounts(settings: JsonObject): JsonObject {
  const { kubernetes, ...others } = bindKeys(settings, ['kubernetes']);
  const { accounts: _, ...kept } = bindKeys(asJsonObject(kubernetes) ?? {}, ['accounts']);
  return { ...others, kubernetes: kept };
}

function hash(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  );
  return createHash('sha256').update(text).digest('base64url');
}

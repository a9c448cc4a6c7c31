import type { Clock, Randomness } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { ProviderOptions } from '../../core/provider.ts';
import { type KubernetesAccount, type ParsedAccounts, parseKubernetesAccounts } from './account.ts';
import { type KubernetesSettings, parseKubernetesSettings } from './account-settings.ts';
import type { EpochMemory, WrittenObjects } from './caching/written-objects.ts';
import type { KubernetesClient } from './client/client.ts';
import { createAwsSurroundings } from './eks/aws-surroundings.ts';

/** The Kubernetes accounts of a process, with one client each, made when it is first needed. */
export class KubernetesSession implements AsyncDisposable {
  readonly settings: KubernetesSettings;
  readonly accounts: ParsedAccounts['accounts'];
  readonly rejectedAccounts: ParsedAccounts['rejected'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly #options: ProviderOptions;
  readonly #accounts: ReadonlyMap<string, KubernetesAccount>;
  readonly #clients = new Map<string, Promise<KubernetesClient>>();
  readonly #epochs: EpochMemory = new Map();

  /** Reads the accounts and makes no call. @throws InvalidInputError when a setting that holds for all accounts is wrong. */
  constructor(options: ProviderOptions) {
    const { accounts, rejected } = parseKubernetesAccounts(options.settings);
    this.#options = options;
    this.settings = parseKubernetesSettings(options.settings);
    this.accounts = accounts;
    this.rejectedAccounts = rejected;
    this.clock = options.clock;
    this.randomness = options.randomness;
    this.log = options.log;
    this.#accounts = new Map(accounts.map((account) => [account.name, account]));
  }

  /** The account of that name, or undefined. */
  findAccount(name: string): KubernetesAccount | undefined {
    return this.#accounts.get(name);
  }

  /** The account's client, the same each time. */
  getClient(account: KubernetesAccount): Promise<KubernetesClient> {
    const known = this.#clients.get(account.name);
    if (known !== undefined) return known;
    const opening = this.#openClient(account);
    this.#clients.set(account.name, opening);
    return opening;
  }

  /** Notes for one operation: what it writes is brought into the cache. Undefined where there is no cache. */
  async noteWrites(account: KubernetesAccount): Promise<WrittenObjects | undefined> {
    const { openCache } = this.#options;
    if (openCache === undefined || !this.settings.cache.enabled) return undefined;
    const { clock, log, randomness } = this;
    const [{ noteWrittenObjects }, { createCacheWriter }, cache] = await Promise.all([
      import('./caching/written-objects.ts'),
      import('./caching/cache-writer.ts'),
      openCache(),
    ]);
    const writer = createCacheWriter({ cache, account, clock, randomness });
    return noteWrittenObjects(
      { account, settings: this.settings.cache, cache, writer, clock, log },
      this.#epochs,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clients = await Promise.all(this.#clients.values());
    this.#clients.clear();
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  }

  async #openClient({ connection }: KubernetesAccount): Promise<KubernetesClient> {
    // Loaded late: functions that only look at accounts must not pay for an HTTP client at their start.
    const { createKubernetesClient } = await import('./client/kubernetes-client.ts');
    const { clock, randomness, log, placement, environment = {} } = this.#options;
    return createKubernetesClient({
      connection: { ...connection, placement },
      clock,
      randomness,
      log,
      environment,
      ...createAwsSurroundings(connection, this.#options),
    });
  }
}

import type { Clock, Randomness } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { ProviderOptions } from '../../core/providers/provider.ts';
import { type KubernetesAccount, type ParsedAccounts, parseKubernetesAccounts } from './account.ts';
import { AccountClients } from './account-clients.ts';
import { type KubernetesSettings, parseKubernetesSettings } from './account-settings.ts';
import type { EpochMemory, WrittenObjects } from './caching/written-objects.ts';
import type { KubernetesClient } from './client/client.ts';

/** The Kubernetes accounts of a process, with one client each, made when it is first needed. */
export class KubernetesSession implements AsyncDisposable {
  readonly settings: KubernetesSettings;
  readonly accounts: ParsedAccounts['accounts'];
  readonly rejectedAccounts: ParsedAccounts['rejected'];
  readonly accountWarnings: ParsedAccounts['warnings'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly #options: ProviderOptions;
  readonly #accounts: ReadonlyMap<string, KubernetesAccount>;
  readonly #clients: AccountClients<KubernetesClient>;
  readonly #epochs: EpochMemory = new Map();

  /** Reads the accounts and makes no call. @throws InvalidInputError when a setting that holds for all accounts is wrong. */
  constructor(options: ProviderOptions) {
    const { accounts, rejected, warnings } = parseKubernetesAccounts(options.settings);
    this.#options = options;
    this.#clients = new AccountClients(options, async (parts) => {
      const { createKubernetesClient } = await import('./client/kubernetes-client.ts');
      return createKubernetesClient(parts);
    });
    this.settings = parseKubernetesSettings(options.settings);
    this.accounts = accounts;
    this.rejectedAccounts = rejected;
    this.accountWarnings = warnings;
    this.clock = options.clock;
    this.randomness = options.randomness;
    this.log = options.log;
    for (const { message, ...warning } of warnings) this.log.warn(message, warning);
    this.#accounts = new Map(accounts.map((account) => [account.name, account]));
  }

  /** The account of that name, or undefined. */
  findAccount(name: string): KubernetesAccount | undefined {
    return this.#accounts.get(name);
  }

  /** The account's client, the same each time. */
  getClient(account: KubernetesAccount): Promise<KubernetesClient> {
    return this.#clients.get(account);
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
    await this.#clients[Symbol.asyncDispose]();
  }
}

import type { Clock, Randomness } from '../../../core/clock.ts';
import type { Logger } from '../../../core/logger.ts';
import type { ProviderOptions } from '../../../core/providers/provider.ts';
import type { KubernetesClient } from '../api/client.ts';
import { type KubernetesAccount, type ParsedAccounts, parseKubernetesAccounts } from './account.ts';
import { AccountClients } from './account-clients.ts';
import { type KubernetesSettings, parseKubernetesSettings } from './account-settings.ts';

/** The epoch that each account's cache had when this process last read it, and when that was, by the wall clock. */
export type EpochMemory = Map<string, { readonly epoch: number; readonly readAtMs: number }>;

/** The Kubernetes accounts of a process, with one client each, made when it is first needed. */
export class KubernetesSession implements AsyncDisposable {
  readonly settings: KubernetesSettings;
  readonly accounts: ParsedAccounts['accounts'];
  readonly rejectedAccounts: ParsedAccounts['rejected'];
  readonly accountWarnings: ParsedAccounts['warnings'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  /** Opens the cache; undefined where there is none. */
  readonly openCache: ProviderOptions['openCache'];
  /** For those who bring into the cache what operations write. */
  readonly epochs: EpochMemory = new Map();
  readonly #accounts: ReadonlyMap<string, KubernetesAccount>;
  readonly #clients: AccountClients<KubernetesClient>;

  /** Reads the accounts and makes no call. @throws InvalidInputError when a setting that holds for all accounts is wrong. */
  constructor(options: ProviderOptions) {
    const { accounts, rejected, warnings } = parseKubernetesAccounts(options.settings);
    this.openCache = options.openCache;
    this.#clients = new AccountClients(options, async (parts) => {
      const { createKubernetesClient } = await import('../client/kubernetes-client.ts');
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
  }
}

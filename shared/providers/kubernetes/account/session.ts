import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { CacheAccess, ProviderContext } from '#provider-kit/provider.ts';
import type { AccountClient } from '../api/client.ts';
import type { KubernetesClientOptions } from '../client/kubernetes-client.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import {
  isV1Account,
  type KubernetesAccount,
  type KubernetesV1Account,
  type ParsedAccounts,
  parseKubernetesAccounts,
} from './account.ts';
import { AccountClients } from './account-clients.ts';
import { type KubernetesSettings, parseKubernetesSettings } from './account-settings.ts';

/** The epoch that each account's cache had when this process last read it, and when that was, by the wall clock. */
export type EpochMemory = Map<string, { readonly epoch: number; readonly readAtMs: number }>;

/** The Kubernetes accounts of a process, with one client each, made when it is first needed. */
export class KubernetesSession implements AsyncDisposable {
  readonly settings: KubernetesSettings;
  /** The V2 accounts. Operations and reads of manifests know only these. */
  readonly accounts: ParsedAccounts['accounts'];
  /** The V1 accounts. */
  readonly v1Accounts: readonly KubernetesV1Account[];
  readonly rejectedAccounts: ParsedAccounts['rejected'];
  readonly accountWarnings: ParsedAccounts['warnings'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly cache: CacheAccess;
  /** Used to bring into the cache what operations write. */
  readonly epochs: EpochMemory = new Map();
  readonly #accounts: ReadonlyMap<string, KubernetesAccount>;
  readonly #v1Accounts: ReadonlyMap<string, KubernetesV1Account>;
  readonly #clients: AccountClients<AccountClient>;
  /** Undefined if processes may be frozen between calls. */
  readonly #watchClients: AccountClients<WatchClient> | undefined;
  readonly #opened: AsyncDisposable[] = [];
  /** Closes its clients, and refers to nothing else. */
  readonly closing: AsyncDisposable = createClosing(this.#opened);

  /** Reads the accounts and makes no call. @throws InvalidInputError when a setting for all accounts is wrong. */
  constructor(options: ProviderContext) {
    const { accounts, rejected, warnings } = parseKubernetesAccounts(options.settings, options);
    this.cache = options.cache ?? {};
    this.#clients = new AccountClients(options, 'client', openClient);
    this.#opened.push(this.#clients);
    if (options.placement === 'local') this.#watchClients = this.openWatchClients(options, 'watch');
    this.settings = parseKubernetesSettings(options.settings);
    this.v1Accounts = accounts.filter(isV1Account);
    this.accounts = accounts.filter((account) => !isV1Account(account));
    this.rejectedAccounts = rejected;
    this.accountWarnings = warnings;
    this.clock = options.clock;
    this.randomness = options.randomness;
    this.log = options.log;
    this.#accounts = new Map(this.accounts.map((account) => [account.name, account]));
    this.#v1Accounts = new Map(this.v1Accounts.map((account) => [account.name, account]));
  }

  /** The V1 account of that name, or undefined. */
  findV1Account(name: string): KubernetesV1Account | undefined {
    return this.#v1Accounts.get(name);
  }

  /** The V2 account of that name, or undefined. */
  findAccount(name: string): KubernetesAccount | undefined {
    return this.#accounts.get(name);
  }

  /** The account's client, the same each time. */
  getClient(account: KubernetesAccount): Promise<AccountClient> {
    return this.#clients.get(account);
  }

  /** Has the account's health report what its settings ask for and its cluster refuses; empty for nothing. Never rejects. */
  noteWarning(account: KubernetesAccount, warning: string): Promise<void> {
    return this.#clients.noteWarning(account, warning);
  }

  /** When the account's cluster last accepted its credentials, wall time in milliseconds; undefined if unknown. Never rejects. */
  findLastSuccessMs(account: KubernetesAccount): Promise<number | undefined> {
    return this.#clients.findLastSuccessMs(account);
  }

  /** Whether the account's calls are made: its server is not known to be unreachable, or has just answered again. Never rejects. */
  async isReachable(name: string): Promise<boolean> {
    const account = this.findAccount(name) ?? this.findV1Account(name);
    if (account === undefined) return true;
    try {
      return await (await this.getClient(account)).isReachable();
    } catch {
      // The first call reports what is wrong with the account.
      return true;
    }
  }

  /**
   * The client with which live reads watch what users are looking at, the same each time. Undefined if processes may be frozen between
   * calls.
   */
  findWatchClient(account: KubernetesAccount): Promise<WatchClient> | undefined {
    return this.#watchClients?.get(account);
  }

  /** Clients of a separate sort, which are closed with the session. */
  openWatchClients(options: ProviderContext, sort: 'watch' | 'agents'): AccountClients<WatchClient> {
    const clients = new AccountClients(options, sort, openWatchClient);
    this.#opened.push(clients);
    return clients;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closing[Symbol.asyncDispose]();
  }
}

/** A separate function, since a closure retains all variables of its function. Closes in reverse order of opening. */
function createClosing(opened: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const each of opened.toReversed()) await each[Symbol.asyncDispose]();
    },
  };
}

async function openClient(options: KubernetesClientOptions): Promise<AccountClient> {
  const { createKubernetesClient } = await import('../client/kubernetes-client.ts');
  return createKubernetesClient(options);
}

async function openWatchClient(options: KubernetesClientOptions): Promise<WatchClient> {
  const { WatchClient } = await import('../watch/watch-client.ts');
  return new WatchClient(options);
}

import type { AccountGrant } from '#agents/protocol/messages.ts';
import type { ReaderSource } from '#agents/protocol/run-read.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { CacheAccess } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { SharedClients } from '#provider-kit/shared-clients.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { mergeDocuments } from '#settings/spring-config.ts';
import { narrowAccount } from './account-limits.ts';
import type { AgentAccount } from './agent-config.ts';

/** Dependencies of opening accounts. */
export interface GrantedAccountsOptions {
  readonly accounts: readonly AgentAccount[];
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly environment: { readonly [name: string]: string | undefined };
  /** The cache to read from and write to. */
  readonly cache: CacheAccess;
}

/** Accounts as they are granted now, for one who works with them: whatever becomes of the grants, they stay open until disposed. */
export interface AccountsUse extends Disposable {
  readonly getReader: ReaderSource;
  /** See `ProviderSet.findOperation`. */
  readonly findOperation: ProviderSet['findOperation'];
  /** The caching of those accounts that are granted it; the same each time. */
  loadCachingAgents(): Promise<readonly CachingAgent[]>;
  /** The same object for each use of what was opened at the same time. */
  readonly opening: object;
}

/** An opening, and how many use it. */
interface Opening {
  readonly providers: ProviderSet;
  /** Names of those that may be kept cached. */
  readonly cached: ReadonlySet<string>;
  uses: number;
  isReplaced: boolean;
}

/** The accounts of an agent: what Busdriver says of each, and how this agent reaches it. */
export class GrantedAccounts {
  readonly #options: GrantedAccountsOptions;
  /** Connections outlive another opening. */
  readonly #clients = new SharedClients();
  #current: Opening | undefined;
  #settings = '';

  constructor(options: GrantedAccountsOptions) {
    this.#options = options;
  }

  /** Opens what is granted, unless it is what was granted before. */
  take(grants: readonly AccountGrant[]): void {
    const settings = toSettings(grants, this.#options);
    const cached = new Set(grants.filter(({ caching }) => caching).map(({ name }) => name));
    const text = JSON.stringify([settings, ...cached]);
    if (text === this.#settings) return;
    this.#settings = text;
    const before = this.#current;
    this.#current = { providers: this.#open(settings), cached, uses: 0, isReplaced: false };
    if (before === undefined) return;
    before.isReplaced = true;
    closeUnused(before, this.#options.log);
  }

  /** Whether anything was granted yet. */
  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /** Uses what is granted now. @throws Error before anything is granted */
  use(): AccountsUse {
    const opening = this.#current;
    if (opening === undefined) throw new Error('no account is granted yet');
    opening.uses += 1;
    const { providers, cached } = opening;
    return {
      getReader: (...asked) => providers.getLiveReader(...asked),
      findOperation: (...asked) => providers.findOperation(...asked),
      async loadCachingAgents() {
        const agents = await providers.loadCachingAgents();
        return agents.filter(({ account }) => cached.has(account));
      },
      opening,
      [Symbol.dispose]: () => {
        opening.uses -= 1;
        closeUnused(opening, this.#options.log);
      },
    };
  }

  #open(settings: JsonObject): ProviderSet {
    const { clock, randomness, log, environment, cache } = this.#options;
    const provider = kubernetesPlugin.open({
      ...{ settings, clock, randomness, log, environment, clients: this.#clients, cache },
      placement: 'local',
    });
    for (const { name, reason } of provider.rejectedAccounts) {
      log.error('an account cannot be used', { account: name, reason });
    }
    return new ProviderSet([provider]);
  }
}

function closeUnused({ providers, uses, isReplaced }: Opening, log: Logger): void {
  if (!isReplaced || uses > 0) return;
  providers[Symbol.asyncDispose]().catch((error: unknown) =>
    log.warn('accounts could not be closed', { error }),
  );
}

/** The settings of the accounts that are granted: their definitions, narrowed by the file, each with how its cluster is reached from here. */
function toSettings(grants: readonly AccountGrant[], { accounts, log }: GrantedAccountsOptions): JsonObject {
  const definitions = grants.flatMap(({ name, operations, definition }) => {
    const own = accounts.find((each) => each.name === name);
    if (!operations || definition === undefined || own === undefined) return [];
    const { settings, account } = asJsonObject(JSON.parse(definition)) ?? {};
    try {
      return [
        { settings: asJsonObject(settings) ?? {}, account: toAccount(asJsonObject(account) ?? {}, own) },
      ];
    } catch (error) {
      log.error('an account cannot be used', { account: name, reason: getErrorMessage(error) });
      return [];
    }
  });
  const shared = definitions[0]?.settings ?? {};
  const list = { accounts: definitions.map(({ account }) => account) };
  return mergeDocuments([shared, { [kubernetesPlugin.name]: list }]);
}

function toAccount(definition: JsonObject, own: AgentAccount): JsonObject {
  const { agent: _, ...account } = narrowAccount(definition, own.limits);
  return {
    ...account,
    serviceAccount: own.serviceAccount,
    insecure: own.insecure,
    noProxy: own.noProxy,
    ...(own.kubeConfigFile !== undefined && { kubeconfigFile: own.kubeConfigFile }),
    ...(own.context !== undefined && { context: own.context }),
  };
}

import type { CachingAgentStore } from '#caching/scheduling/caching-agent-store.ts';
import { openCachingAgents } from '#caching/services/caching-agents.ts';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Milliseconds after its start from which on a replica is ready, however its accounts are. */
export const readyAfterMs = 60_000;

/** Decides whether a replica is ready. */
export interface ReadinessOptions {
  readonly agents: Pick<CachingAgentStore, 'readFreshness'>;
  /** Names the accounts of the settings that are cached. */
  listAccounts(): Promise<readonly string[]>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/**
 * Whether a replica may be sent requests: each account of the settings was cached by some replica, or that has failed once, for views
 * without them would look as if they had nothing. Once ready it stays so, whatever accounts come.
 */
export class Readiness {
  readonly #options: ReadinessOptions;
  readonly #startedAt: number;
  #isReady = false;

  constructor(options: ReadinessOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  /** Never rejects: while accounts or their caches cannot be read, it is not ready before its time. */
  async isReady(): Promise<boolean> {
    const { clock, log } = this.#options;
    this.#isReady ||= clock.monotonic() - this.#startedAt >= readyAfterMs;
    if (this.#isReady) return true;
    try {
      this.#isReady = await this.#areAllTried();
    } catch (error) {
      log.warn('whether all accounts are cached cannot be told', { cause: getErrorMessage(error) });
    }
    return this.#isReady;
  }

  async #areAllTried(): Promise<boolean> {
    const accounts = await this.#options.listAccounts();
    const freshness = await this.#options.agents.readFreshness(accounts);
    return accounts.every((account) => {
      const { asOfMs, triedAtMs } = freshness.get(account) ?? {};
      return asOfMs !== undefined || triedAtMs !== undefined;
    });
  }
}

/** The readiness of a replica that begins now. */
export function createReadiness(services: Services, log: Logger): Readiness {
  return new Readiness({
    agents: { readFreshness: (accounts) => openCachingAgents(services).agents.readFreshness(accounts) },
    async listAccounts() {
      const { providers } = await openProviders(services);
      return [...new Set((await providers.loadCachingAgents()).map(({ account }) => account))];
    },
    clock: systemClock,
    log,
  });
}

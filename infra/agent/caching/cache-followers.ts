import { toCacheOwner } from '#caching/scheduling/cache-owner.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { type CachingAgentKey, toCachingAgentId } from '#caching/scheduling/caching-agent-store.ts';
import { CachingAgentWatch } from '#caching/scheduling/streams/caching-agent-watch.ts';
import { claimCachingAgent, type StreamWorker } from '#caching/scheduling/streams/stream-worker.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { waitAtMost, waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { LeaseLostError } from '#tasks/task.ts';
import type { AccountsUse, GrantedAccounts } from '../config/granted-accounts.ts';
import { HubAwayError } from '../hub/hub-client.ts';
import type { WatchedAgentStore } from './remote-agent-store.ts';

/** After the end of another agent's lease the account is claimed, at some time within so many milliseconds. */
const lateMs = 1_000;

/**
 * Milliseconds between two tries to keep an account cached that another agent does: with many accounts they are rarer. One that is connected for
 * hints hears when the other one stops, and tries again when its lease ends.
 */
const claimMs = { least: 5_000, most: 45_000, perAgent: 100 } as const;

/** How often it is looked which accounts are to be kept cached, milliseconds. */
const lookMs = 1_000;

/** Milliseconds for which accounts stay open after they were opened again: watches of before end within five seconds. */
const closeMs = 15_000;

/** Milliseconds for which leases are given back when the agent stops: those that are not lapse. */
const endMs = 10_000;

/** Calls about leases at a time. */
const callsMax = 8;

/** Dependencies of followers. */
export interface CacheFollowersOptions {
  readonly accounts: Pick<GrantedAccounts, 'use' | 'isOpen'>;
  readonly agents: WatchedAgentStore;
  readonly cache: CacheStore;
  /** Busdriver's, which is what everything that is cached is dated by. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly host: string;
}

/** Keeps the accounts of an agent cached, each as long as no other agent does. */
export class CacheFollowers {
  readonly #options: CacheFollowersOptions;
  readonly #watched = new Map<string, CachingAgentWatch>();
  readonly #following = new Map<string, Promise<void>>();
  #agents: ReadonlyMap<string, CachingAgent> = new Map();
  #use: AccountsUse | undefined;
  #isConnected = false;
  /** Of accounts: until when another agent has them, milliseconds by Busdriver's clock. */
  readonly #heldUntilMs = new Map<string, number>();
  /** Of accounts: cuts the pauses short in which another agent has them. */
  readonly #pauses = new Map<string, AbortController>();

  constructor(options: CacheFollowersOptions) {
    this.#options = options;
  }

  /** Follows until the signal is aborted; then leases are given back, for another agent to go on at once. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const worker = this.#createWorker(signal);
    do {
      await this.#look();
      for (const watching of this.#watched.values()) watching.checkConfigured();
      for (const [id, agent] of this.#agents) {
        if (this.#following.has(id)) continue;
        const end = this.#follow(agent, worker).finally(() => this.#following.delete(id));
        this.#following.set(id, end);
      }
    } while (await waits(clock, lookMs, signal));
    await waitAtMost(clock, endMs, Promise.all(this.#following.values()));
    this.#use?.[Symbol.dispose]();
  }

  /** Has it proven that what was so in an account at a time is cached. @param wantedMs milliseconds since the epoch */
  refresh(account: string, wantedMs: number): void {
    for (const watching of this.#watched.values())
      if (watching.account === account) watching.demand(wantedMs);
  }

  /** Claims an account at once that another agent has ceased to keep cached. */
  claim(account: string): void {
    this.#pauses.get(account)?.abort('another agent stopped');
    this.#pauses.delete(account);
  }

  /** Whether there is a connection for hints. Without one it asks often. */
  setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    if (!isConnected) this.claimAll();
  }

  /** Claims all accounts at once that this agent does not keep cached: claims under way may wait on a dead connection. */
  claimAll(): void {
    this.#options.agents.giveUpClaims();
    for (const account of [...this.#pauses.keys()]) this.claim(account);
  }

  /** Which agents there should be now: those of the accounts as they are granted. */
  async #look(): Promise<void> {
    const { accounts, clock, log } = this.#options;
    if (!accounts.isOpen) return;
    const use = accounts.use();
    if (use.opening === this.#use?.opening) return use[Symbol.dispose]();
    try {
      const agents = await use.loadCachingAgents();
      const before = this.#use;
      this.#use = use;
      this.#agents = new Map(agents.map((agent) => [toCachingAgentId(agent), agent]));
      void clock.sleep(closeMs).finally(() => before?.[Symbol.dispose]());
    } catch (error) {
      use[Symbol.dispose]();
      log.error('the code that keeps accounts cached could not be loaded', { error });
    }
  }

  /** Follows one agent for as long as there is such a one. Never rejects. */
  async #follow(key: CachingAgentKey, worker: StreamWorker): Promise<void> {
    const { clock, randomness, log } = this.#options;
    while (!worker.stop.aborted && worker.findAgent(key) !== undefined) {
      const asked = this.#getPause(key.account);
      const pauseMs = await this.#followOnce(key, worker).catch((error: unknown) => {
        if (asked.signal.aborted) return undefined;
        const { account, name } = key;
        log.warn('an account cannot be kept cached', {
          account,
          agent: name,
          reason: getErrorMessage(error),
        });
        return undefined;
      });
      // It was to claim again while it did.
      if (asked.signal.aborted) continue;
      const leastMs = pauseMs ?? getRandomMs(this.#claimMs, randomness, 0.8);
      const untilMs = this.#isConnected ? (this.#heldUntilMs.get(key.account) ?? 0) : 0;
      const heldMs = Math.min(claimMs.most, untilMs - clock.now()) + getRandomMs(lateMs, randomness);
      const pause = this.#getPause(key.account);
      await waits(clock, Math.max(leastMs, heldMs), AbortSignal.any([worker.stop, pause.signal]));
    }
  }

  /** @returns milliseconds to pause before it is begun again; undefined where another agent keeps the account cached */
  async #followOnce(key: CachingAgentKey, worker: StreamWorker): Promise<number | undefined> {
    const id = toCachingAgentId(key);
    this.#heldUntilMs.delete(key.account);
    const onHeld = (untilMs: number): void => void this.#heldUntilMs.set(key.account, untilMs);
    const claimed = await worker.limit(() => claimCachingAgent(key, worker, onHeld));
    const agent = worker.findAgent(key);
    if (claimed === undefined || agent === undefined) return undefined;
    const { account, name } = key;
    this.#pauses.delete(account);
    this.#options.log.info('keeping an account cached', { account, agent: name });
    const watching = new CachingAgentWatch({ agent, claimed, worker });
    this.#watched.set(id, watching);
    try {
      // An agent that lost the lease while Busdriver was away mostly finds that no other has it.
      return (await watching.run()) ?? getRandomMs(lateMs, this.#options.randomness);
    } finally {
      this.#watched.delete(id);
    }
  }

  /** Aborted when the account is to be claimed at once. */
  #getPause(account: string): AbortController {
    const pause = this.#pauses.get(account) ?? new AbortController();
    this.#pauses.set(account, pause);
    return pause;
  }

  get #claimMs(): number {
    return Math.min(claimMs.most, Math.max(claimMs.least, this.#agents.size * claimMs.perAgent));
  }

  #createWorker(stop: AbortSignal): StreamWorker {
    const { agents, cache, clock, randomness, log, host } = this.#options;
    return {
      ...{ agents, cache, clock, randomness, log, host, stop },
      owner: toCacheOwner(host),
      limit: createConcurrencyLimit(callsMax),
      relieved: new AbortController().signal,
      findAgent: (key) => this.#agents.get(toCachingAgentId(key)),
      isAway: (error) => error instanceof HubAwayError || error instanceof LeaseLostError,
      // Busdriver publishes to the bus, and counts; no worker is sent for from here.
      bus: { publish: async () => undefined },
      streams: { send: async () => undefined },
      recordLags: () => undefined,
      recordTooLarge: () => undefined,
    };
  }
}

import type { Clock, Randomness } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import type { Logger } from '#core/logger.ts';
import { compareText } from '#core/text-order.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import { type Item, ItemUpdate, type StoreClient } from '#platform/aws/table.ts';
import { LeaseLostError } from '#tasks/task.ts';
import type { CachingAgentMode } from '../../scheduling/cache-mode.ts';
import { isCacheOwner } from '../../scheduling/cache-owner.ts';
import {
  earlyToleranceMs,
  getTurn,
  idleAfterMs,
  sentAheadMs,
  useRememberedMs,
} from '../../scheduling/caching-agent-schedule.ts';
import {
  type AccountFreshness,
  type CachingAgentKey,
  type CachingAgentLease,
  type CachingAgentProgress,
  type CachingAgentSpec,
  type CachingAgentStore,
  type ClaimedCachingAgent,
  type ClaimOptions,
  type Finish,
  type StoredCachingAgent,
  type SyncAnswer,
  toCachingAgentId,
} from '../../scheduling/caching-agent-store.ts';
import { CacheTable } from '../store/cache-table.ts';
import { UnreadableItems } from '../store/unreadable-items.ts';
import { listDemands, putDemand } from './caching-agent-demands.ts';
import { toFreshness } from './caching-agent-freshness.ts';
import {
  cachingAgentAttributes,
  cachingAgentShards,
  errorLengthMax,
  findStateChunks,
  getAccountPrefix,
  getCachingAgentKey,
  getCachingAgentPartition,
  getCachingAgentShard,
  getStatePartition,
  parseCachingAgent,
} from './caching-agent-items.ts';

const concurrency = 16;

/** From this many accounts in one partition on, the whole partition is read instead of each account. */
const wholePartitionFrom = 8;

interface CachingAgentStoreOptions {
  readonly documents: StoreClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Logs caching agents that cannot be read. Default: no log. */
  readonly log?: Pick<Logger, 'error'>;
}

/** Caching agents in DynamoDB, by single-item conditional writes and without an index. */
export class DynamoCachingAgentStore implements CachingAgentStore {
  readonly #table: CacheTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  /** Caching agents that another release wrote unreadably count as absent: `sync` replaces them. */
  readonly #unreadable: UnreadableItems;
  /** Until when the use of an account need not be noted again, milliseconds. */
  readonly #used = new Map<string, number>();

  constructor(options: CachingAgentStoreOptions) {
    this.#table = new CacheTable(options);
    this.#clock = options.clock;
    this.#randomness = options.randomness;
    this.#unreadable = new UnreadableItems(options.log);
  }

  async claim(key: CachingAgentKey, options: ClaimOptions): Promise<ClaimedCachingAgent | undefined> {
    const { owner, turn, leaseMs, demanded = false, isShared = false, handedOverBy, askedMs } = options;
    const validUntil = this.#clock.monotonic() + leaseMs;
    const now = this.#clock.now();
    const claim = this.#randomness.id();
    const claimedTurn = demanded ? now : turn;
    const update = new ItemUpdate()
      .set({ leaseOwner: owner, leaseUntil: now + leaseMs, claim })
      .add('fence', 1)
      .require('removedAt', '=', 0);
    if (handedOverBy === undefined) update.add('attempts', 1).require('leaseUntil', '<=', now);
    // Handed over: no worker died of it, and it is not late.
    else update.set({ attempts: 1 }).require('leaseOwner', '=', handedOverBy);
    if (!demanded) {
      update.require('lastTurn', '<=', claimedTurn - 1).require('nextRunAt', '<=', now + earlyToleranceMs);
    }
    if (isShared) update.require('attempts', '<=', 0);
    if (askedMs !== undefined) update.set({ askedAt: askedMs });
    if (askedMs !== undefined && handedOverBy === owner) update.require('askedAt', '<=', askedMs - 1);
    const item = await this.#table.update(getCachingAgentKey(key), update);
    const found = item ?? (await this.#table.get(getCachingAgentKey(key)));
    // An earlier attempt of ours, whose answer was lost, may be why it is refused: no other claim has this text.
    if (found === undefined) return undefined;
    if (found['claim'] !== claim) {
      if (askedMs !== undefined && handedOverBy === undefined && found['leaseOwner'] === owner)
        return this.claim(key, { ...options, handedOverBy: owner });
      options.onHeld?.(cacheReader.getNumber(found, 'leaseUntil'));
      return undefined;
    }
    const agent = parseCachingAgent(found);
    const lease = {
      ...{ account: key.account, name: key.name, owner, turn: claimedTurn, leaseMs, validUntil },
      startedAtMs: now,
      fence: cacheReader.getNumber(found, 'fence'),
      lagMs: handedOverBy === undefined || handedOverBy === owner ? Math.max(0, now - agent.nextRunMs) : 0,
      usedAtMs: agent.usedAtMs,
      stateWrites: 0,
      hasChunks: findStateChunks(found) !== undefined,
    };
    return {
      agent,
      lease,
      readState: async () => (await loadStates()).readState(this.#table, found),
    };
  }

  renew(lease: CachingAgentLease, progress?: CachingAgentProgress): Promise<void> {
    return this.#prolong(lease, { progress });
  }

  commitState(lease: CachingAgentLease, state: string, progress?: CachingAgentProgress): Promise<void> {
    return this.#prolong(lease, { state, progress });
  }

  async finish(lease: CachingAgentLease, finish: Finish): Promise<StoredCachingAgent> {
    const { error = '', nextRunMs, state, ...run } = finish;
    const { outcome, asOfMs } = run;
    const { startedAtMs, lagMs } = lease;
    const lastRun = JSON.stringify({ ...run, startedAtMs, lagMs });
    const update = new ItemUpdate()
      .set({ leaseOwner: '', leaseUntil: 0, nextRunAt: nextRunMs, attempts: 0, lastRun })
      .remove('progress');
    if (asOfMs !== undefined) update.set({ asOf: asOfMs });
    if (outcome !== 'STOPPED') update.set({ lastTurn: lease.turn });
    if (outcome === 'SUCCESS') update.set({ failures: 0 });
    else if (outcome === 'FAILURE') {
      update.add('failures', 1).set({ errorAt: this.#clock.now(), error: error.slice(0, errorLengthMax) });
    }
    const item = await this.#updateState(lease, {
      update,
      state,
      isApplied: (found) =>
        found['fence'] === lease.fence && found['lastRun'] === lastRun && found['leaseOwner'] === '',
    });
    const agent = parseCachingAgent(item);
    const isWoken = agent.usedAtMs > lease.usedAtMs && agent.failures === 0;
    return (isWoken && (await this.#bringForward(agent))) || agent;
  }

  async list(): Promise<readonly StoredCachingAgent[]> {
    const shards = Array.from({ length: cachingAgentShards }, (_, shard) =>
      this.#query({ pk: getCachingAgentShard(shard), consistent: false }),
    );
    const agents = (await Promise.all(shards)).flat();
    return agents.sort((one, other) => compareText(toCachingAgentId(one), toCachingAgentId(other)));
  }

  async readFreshness(accounts: readonly string[]): Promise<ReadonlyMap<string, AccountFreshness>> {
    const freshness = new Map<string, AccountFreshness>();
    const partitions = [...Map.groupBy(new Set(accounts), getCachingAgentPartition)];
    await forEachConcurrently(partitions, concurrency, async ([pk, names]) => {
      const isWhole = names.length >= wholePartitionFrom;
      const found = isWhole
        ? await this.#query({ pk, consistent: false })
        : (await Promise.all(names.map((account) => this.#listOf(account)))).flat();
      const inService = found.filter(({ removedAtMs }) => removedAtMs === undefined);
      const agents = Map.groupBy(inService, ({ account }) => account);
      for (const account of names) {
        const own = agents.get(account);
        if (own !== undefined) freshness.set(account, toFreshness(own, this.#clock.now()));
      }
    });
    return freshness;
  }

  async wake(account: string): Promise<readonly StoredCachingAgent[]> {
    const now = this.#clock.now();
    if ((this.#used.get(account) ?? 0) > now) return [];
    this.#used.set(account, now + useRememberedMs);
    try {
      return await this.#touchAccounts(account, now);
    } catch (error) {
      this.#used.delete(account);
      throw error;
    }
  }

  async sync(specs: readonly CachingAgentSpec[]): Promise<SyncAnswer> {
    // Loaded late: only one function in the background syncs caching agents, but everything that shows cached data has this store.
    const { CachingAgentSync } = await import('./caching-agent-sync.ts');
    return new CachingAgentSync(this.#table, this.#clock).run(await this.list(), specs);
  }

  async setMode(
    agent: StoredCachingAgent,
    { mode, reason }: Pick<CachingAgentMode, 'mode' | 'reason'>,
  ): Promise<StoredCachingAgent | undefined> {
    const now = this.#clock.now();
    const before = agent.mode?.mode;
    const update = new ItemUpdate().set({ mode, modeReason: reason }).require('removedAt', '=', 0);
    if (before !== mode) update.set({ modeSince: now });
    if (before !== undefined) update.require('mode', '=', before);
    if (before === 'stream' && mode === 'interval') {
      // A worker that watches it learns of the lost lease by its next write.
      update.set({ leaseOwner: '', leaseUntil: 0, attempts: 0, nextRunAt: now }).add('fence', 1);
    }
    const item = await this.#table.update(getCachingAgentKey(agent), update);
    return item && parseCachingAgent(item);
  }

  demand(watchedBy: string, account: string, wantedMs: number): Promise<void> {
    return putDemand({ table: this.#table, clock: this.#clock }, { watchedBy, account, wantedMs });
  }

  listDemands(watchedBy: string): Promise<ReadonlyMap<string, number>> {
    return listDemands({ table: this.#table, clock: this.#clock }, watchedBy);
  }

  /** Ends the leases of workers, but not those of agents in clusters: for a start that knows that no worker lives. */
  async voidLeases(): Promise<void> {
    const now = this.#clock.now();
    await forEachConcurrently(await this.list(), concurrency, async ({ lease, ...agent }) => {
      if (lease === undefined || lease.untilMs <= now || isCacheOwner(lease.owner)) return;
      const update = new ItemUpdate().set({ leaseUntil: now }).require('leaseOwner', '=', lease.owner);
      await this.#table.update(getCachingAgentKey(agent), update);
    });
  }

  async forget(key: CachingAgentKey): Promise<void> {
    const isRemoved = { expression: 'removedAt > :zero', values: { ':zero': 0 } };
    if (await this.#table.deleteIf(getCachingAgentKey(key), isRemoved))
      await (await loadStates()).deleteChunks(this.#table, getStatePartition(key));
  }

  /** The caching agents of the account that were idle, or about to be. */
  async #touchAccounts(account: string, now: number): Promise<StoredCachingAgent[]> {
    const woken: StoredCachingAgent[] = [];
    for (const agent of await this.#listOf(account)) {
      if (agent.removedAtMs !== undefined || agent.usedAtMs > now - useRememberedMs) continue;
      const update = new ItemUpdate()
        .set({ usedAt: now })
        .require('usedAt', '<=', now - useRememberedMs)
        .require('removedAt', '=', 0);
      const item = await this.#table.update(getCachingAgentKey(agent), update);
      if (item === undefined) continue;
      const used = parseCachingAgent(item);
      const brought = await this.#bringForward(used);
      const isIdle = agent.usedAtMs + idleAfterMs <= now + sentAheadMs;
      if (isIdle && used.failures === 0) woken.push(brought ?? used);
    }
    return woken;
  }

  async #prolong(
    lease: CachingAgentLease,
    { state, progress }: { readonly state?: string; readonly progress: CachingAgentProgress | undefined },
  ): Promise<void> {
    const validUntil = this.#clock.monotonic() + lease.leaseMs;
    const update = new ItemUpdate().set({ leaseUntil: this.#clock.now() + lease.leaseMs });
    if (progress !== undefined) update.set({ progress: JSON.stringify(progress) });
    if (progress?.asOfMs !== undefined) update.set({ asOf: progress.asOfMs });
    // It changes nothing for which a repetition would be refused.
    await this.#updateState(lease, { update, state, isApplied: () => false });
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  async #updateState(
    lease: CachingAgentLease,
    { update, state, isApplied }: { state: string | undefined } & LeasedUpdate,
  ): Promise<Item> {
    if (state === undefined) return this.#updateLeased(lease, { update, isApplied });
    const { writeState } = await loadStates();
    const written = await writeState(this.#table, lease, state);
    try {
      const item = await this.#updateLeased(lease, {
        update: written.addTo(update),
        isApplied: (found) => isApplied(found) && written.isIn(found),
      });
      await written.clean(true);
      return item;
    } catch (error) {
      if (error instanceof LeaseLostError) await written.clean(false);
      throw error;
    }
  }

  /**
   * The item after an update by the holder of the lease. An update may be stored and its answer lost. The SDK's repetition is then refused,
   * and `isApplied` recognizes what the first attempt stored.
   *
   * @throws LeaseLostError
   */
  async #updateLeased(lease: CachingAgentLease, { update, isApplied }: LeasedUpdate): Promise<Item> {
    const key = getCachingAgentKey(lease);
    update.require('fence', '=', lease.fence).require('leaseOwner', '=', lease.owner);
    const item = await this.#table.update(key, update);
    if (item !== undefined) return item;
    const found = await this.#table.get(key);
    if (found !== undefined && isApplied(found)) return found;
    throw new LeaseLostError(
      `agent ${lease.name} of ${lease.account} is held by another worker or was removed`,
    );
  }

  /** The caching agent with its next run at the beginning of its next turn; undefined when that is no sooner. */
  async #bringForward(agent: StoredCachingAgent): Promise<StoredCachingAgent | undefined> {
    const now = this.#clock.now();
    const nextRunMs = getTurn(agent, now) > agent.lastTurn ? now : getTurn(agent, now + agent.intervalMs);
    if (agent.failures > 0 || agent.nextRunMs <= nextRunMs) return undefined;
    const update = new ItemUpdate()
      .set({ nextRunAt: nextRunMs })
      .require('nextRunAt', '=', agent.nextRunMs)
      .require('removedAt', '=', 0);
    const item = await this.#table.update(getCachingAgentKey(agent), update);
    return item && parseCachingAgent(item);
  }

  #listOf(account: string): Promise<StoredCachingAgent[]> {
    return this.#query({
      pk: getCachingAgentPartition(account),
      prefix: getAccountPrefix(account),
      consistent: false,
    });
  }

  async #query(
    query: Omit<Parameters<CacheTable['queryPages']>[0], 'attributes'>,
  ): Promise<StoredCachingAgent[]> {
    const agents: StoredCachingAgent[] = [];
    for await (const items of this.#table.queryPages({ ...query, attributes: cachingAgentAttributes }))
      agents.push(
        ...items.flatMap(
          (item) => this.#unreadable.read({ ...item, pk: query.pk }, () => parseCachingAgent(item)) ?? [],
        ),
      );
    return agents;
  }
}

/** Loaded late: everything that shows cached data has this store, but only workers need the states of caching agents. */
function loadStates(): Promise<typeof import('./caching-agent-state.ts')> {
  return import('./caching-agent-state.ts');
}

interface LeasedUpdate {
  readonly update: ItemUpdate;
  isApplied(found: Item): boolean;
}

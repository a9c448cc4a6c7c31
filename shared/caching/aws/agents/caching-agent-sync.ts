import type { Clock } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { unlessMalformed } from '#platform/aws/item-reader.ts';
import { type Item, type ItemKey, ItemUpdate } from '#platform/aws/table.ts';
import {
  type CachingAgentKey,
  type CachingAgentSpec,
  isMisdated,
  type StoredCachingAgent,
  type SyncAnswer,
  toCachingAgentId,
} from '../../scheduling/caching-agent-store.ts';
import type { CacheTable } from '../store/cache-table.ts';
import { getCachingAgentKey, parseCachingAgent, toNewItem } from './caching-agent-items.ts';

/** Caching agents written at a time. */
const concurrency = 16;

/** Brings the caching agents of a table in line with the wanted ones, each by its own conditional write. */
export class CachingAgentSync {
  readonly #table: CacheTable;
  readonly #clock: Clock;

  constructor(table: CacheTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Adds what is missing, changes what is configured differently, and retires what is not wanted.
   *
   * @param found all caching agents of the table, including removed ones
   * @param specs the wanted caching agents
   */
  async run(found: readonly StoredCachingAgent[], specs: readonly CachingAgentSpec[]): Promise<SyncAnswer> {
    const known = new Map(found.map((agent) => [toCachingAgentId(agent), agent]));
    const wanted = new Map(specs.map((spec) => [toCachingAgentId(spec), spec]));
    const agents: StoredCachingAgent[] = [];
    const added: CachingAgentKey[] = [];
    await forEachConcurrently([...wanted.values()], concurrency, async (spec) => {
      const before = known.get(toCachingAgentId(spec));
      const agent = await (before === undefined ? this.#add(spec) : this.#change(before, spec));
      if (agent === undefined) return;
      agents.push(agent);
      const isAdded = before === undefined || before.removedAtMs !== undefined;
      if (isAdded) added.push({ account: spec.account, name: spec.name });
    });
    const removed: StoredCachingAgent[] = [];
    await forEachConcurrently([...known.values()], concurrency, async (agent) => {
      if (!wanted.has(toCachingAgentId(agent))) removed.push(await this.#retire(agent));
    });
    return { agents, added, removed };
  }

  /** Adds a caching agent; undefined when another process did. */
  async #add(spec: CachingAgentSpec): Promise<StoredCachingAgent | undefined> {
    const item = toNewItem(spec, this.#clock.now());
    const isAdded =
      (await this.#table.putIf(item, { expression: 'attribute_not_exists(pk)' })) ||
      (await this.#replaceUnreadable(item));
    return isAdded ? parseCachingAgent(item) : undefined;
  }

  /** @returns whether there was an unreadable one, which this one replaced */
  async #replaceUnreadable(item: Item & ItemKey): Promise<boolean> {
    const found = await this.#table.get({ pk: item.pk, sk: item.sk });
    if (found === undefined || unlessMalformed(() => parseCachingAgent(found)) !== undefined) return false;
    await this.#table.put(item);
    return true;
  }

  /** Changes a caching agent to what is wanted; undefined when it was changed meanwhile. */
  async #change(
    agent: StoredCachingAgent,
    { provider, intervalMs }: CachingAgentSpec,
  ): Promise<StoredCachingAgent | undefined> {
    const now = this.#clock.now();
    const isBack = agent.removedAtMs !== undefined;
    const isWrong = isMisdated(agent, now);
    if (!isBack && !isWrong && agent.provider === provider && agent.intervalMs === intervalMs) return agent;
    const update = new ItemUpdate()
      .set({ provider, intervalMs })
      .require('removedAt', '=', agent.removedAtMs ?? 0);
    if (isBack) {
      update.set({ removedAt: 0, nextRunAt: now, usedAt: now, attempts: 0, failures: 0 });
    } else update.set({ nextRunAt: isWrong ? now : Math.min(agent.nextRunMs, now + intervalMs) });
    if (isWrong) {
      const leaseUntil = agent.lease?.untilMs ?? 0;
      // A worker that holds it and lives goes on until another one claims it.
      update.set({ lastTurn: 0, leaseUntil: Math.min(leaseUntil, now) });
      update.require('leaseUntil', '=', leaseUntil);
    }
    const item = await this.#table.update(getCachingAgentKey(agent), update);
    return item && parseCachingAgent(item);
  }

  async #retire(agent: StoredCachingAgent): Promise<StoredCachingAgent> {
    if (agent.removedAtMs !== undefined) return agent;
    const update = new ItemUpdate()
      .set({ removedAt: this.#clock.now(), leaseOwner: '', leaseUntil: 0 })
      .add('fence', 1)
      .remove('state', 'stateChunks', 'progress', 'asOf', 'mode')
      .require('removedAt', '=', 0);
    const item = await this.#table.update(getCachingAgentKey(agent), update);
    return item === undefined ? agent : parseCachingAgent(item);
  }
}

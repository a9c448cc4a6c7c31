import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { earlyToleranceMs, getTurn, useNotedForMs } from '../../core/agents/agent-schedule.ts';
import {
  type AccountFreshness,
  type Agent,
  type AgentKey,
  type AgentLease,
  type AgentProgress,
  type AgentSpec,
  type AgentStore,
  type ClaimAnswer,
  type ClaimedAgent,
  type ClaimOptions,
  countTooLarge,
  type Finish,
  type SyncAnswer,
} from '../../core/agents/agent-store.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { LeaseLostError } from '../../core/tasks/task.ts';
import { compareText } from '../../core/text-order.ts';
import { CacheTable, type Condition } from '../cache/cache-table.ts';
import { type Item, ItemUpdate } from '../table.ts';
import {
  type AgentItem,
  agentAttributes,
  agentShards,
  errorLengthMax,
  getAccountPrefix,
  getAgentKey,
  getAgentPartition,
  getAgentShard,
  isFinished,
  parseAgent,
  toNewItem,
} from './agent-items.ts';
import { readState, removeState, writeState } from './agent-state.ts';

const concurrency = 16;

/** From so many accounts in one partition on, the partition is read instead of each account. */
const wholePartitionFrom = 8;

/** What the store is made of. */
export interface AgentStoreOptions {
  readonly documents: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Agents in DynamoDB, by single-item conditional writes and without an index. */
export class DynamoAgentStore implements AgentStore {
  readonly #table: CacheTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  /** Until when the use of an account need not be noted, milliseconds. */
  readonly #used = new Map<string, number>();

  constructor(options: AgentStoreOptions) {
    this.#table = new CacheTable(options);
    this.#clock = options.clock;
    this.#randomness = options.randomness;
  }

  async claim(
    key: AgentKey,
    { owner, turn, leaseMs, demanded = false, handedOverBy }: ClaimOptions,
  ): Promise<ClaimAnswer> {
    const validUntil = this.#clock.monotonic() + leaseMs;
    const now = this.#clock.now();
    const claim = this.#randomness.id();
    const claimedTurn = demanded ? now : turn;
    const update = new ItemUpdate()
      .set('leaseOwner', owner)
      .set('leaseUntil', now + leaseMs)
      .set('claim', claim)
      .add('fence', 1)
      .require('removedAt', '=', 0);
    if (handedOverBy === undefined) update.add('attempts', 1).require('leaseUntil', '<=', now);
    // Nobody died of it, and it is not late.
    else update.set('attempts', 1).require('leaseOwner', '=', handedOverBy);
    if (!demanded) {
      update.require('lastTurn', '<=', claimedTurn - 1).require('nextRunAt', '<=', now + earlyToleranceMs);
    }
    const item = await this.#table.update(getAgentKey(key), update);
    const found = item ?? (await this.#table.get(getAgentKey(key)));
    if (found === undefined) return { refusal: 'unknown' };
    // Refused by our own earlier write, whose answer was lost: no other claim has this text.
    if (item === undefined && found['claim'] !== claim)
      return explainRefusal(parseAgent(found), { turn, now });
    const lease = { ...key, owner, turn: claimedTurn, leaseMs, startedAtMs: now, validUntil };
    const claimed = this.#toClaimed(found, lease);
    return {
      claimed: handedOverBy === undefined ? claimed : { ...claimed, lease: { ...claimed.lease, lagMs: 0 } },
    };
  }

  async renew(lease: AgentLease, progress?: AgentProgress): Promise<void> {
    const validUntil = this.#clock.monotonic() + lease.leaseMs;
    const update = this.#toRenewal(lease, progress);
    // A renewal changes nothing that a repeat of it would be refused for.
    await this.#updateLeased(lease, { update, isApplied: () => false });
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  async commitState(lease: AgentLease, state: string, progress?: AgentProgress): Promise<void> {
    const validUntil = this.#clock.monotonic() + lease.leaseMs;
    const update = this.#toRenewal(lease, progress);
    await this.#updateState(lease, { update, state, isApplied: () => false });
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  async finish(lease: AgentLease, finish: Finish): Promise<Agent> {
    const { error = '', nextRunMs, state, ...run } = finish;
    const { outcome, asOfMs } = run;
    const { startedAtMs, lagMs } = lease;
    const lastRun = JSON.stringify({ ...run, startedAtMs, lagMs });
    const update = new ItemUpdate()
      .set('leaseOwner', '')
      .set('leaseUntil', 0)
      .set('nextRunAt', nextRunMs)
      .set('attempts', 0)
      .set('lastRun', lastRun)
      .remove('progress');
    if (asOfMs !== undefined) update.set('asOf', asOfMs);
    if (outcome !== 'STOPPED') update.set('lastTurn', lease.turn);
    if (outcome === 'SUCCESS') update.set('failures', 0);
    else if (outcome === 'FAILURE') {
      update
        .add('failures', 1)
        .set('errorAt', this.#clock.now())
        .set('error', error.slice(0, errorLengthMax));
    }
    const item = await this.#updateState(lease, {
      update,
      state,
      isApplied: (found) => isFinished(found, lease, lastRun),
    });
    const agent = parseAgent(item);
    const isWoken = agent.usedAtMs > lease.usedAtMs && agent.failures === 0;
    return (isWoken && (await this.#bringForward(agent))) || agent;
  }

  async listDue(nowMs: number): Promise<readonly Agent[]> {
    return this.#list({
      expression: 'nextRunAt <= :now AND leaseUntil <= :now AND removedAt = :zero',
      values: { ':now': nowMs, ':zero': 0 },
    });
  }

  async list(): Promise<readonly Agent[]> {
    return this.#list();
  }

  async readFreshness(accounts: readonly string[]): Promise<ReadonlyMap<string, AccountFreshness>> {
    const freshness = new Map<string, AccountFreshness>();
    const partitions = [...Map.groupBy(new Set(accounts), getAgentPartition)];
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

  async wake(account: string): Promise<readonly Agent[]> {
    const now = this.#clock.now();
    if ((this.#used.get(account) ?? 0) > now) return [];
    this.#used.set(account, now + useNotedForMs);
    try {
      return await this.#noteUse(account, now);
    } catch (error) {
      this.#used.delete(account);
      throw error;
    }
  }

  async sync(specs: readonly AgentSpec[]): Promise<SyncAnswer> {
    const known = new Map((await this.#list(undefined, true)).map((agent) => [toId(agent), agent]));
    const wanted = new Map(specs.map((spec) => [toId(spec), spec]));
    const added: AgentKey[] = [];
    await forEachConcurrently([...wanted.values()], concurrency, async (spec) => {
      const agent = known.get(toId(spec));
      if (agent === undefined) {
        const item = { ...toNewItem(spec, this.#clock.now()) };
        if (!(await this.#table.putIf(item, { expression: 'attribute_not_exists(pk)' }))) return;
      } else if (!(await this.#change(agent, spec))) return;
      added.push({ account: spec.account, name: spec.name });
    });
    const removed: Agent[] = [];
    await forEachConcurrently([...known.values()], concurrency, async (agent) => {
      if (!wanted.has(toId(agent))) removed.push(await this.#retire(agent));
    });
    return { added, removed };
  }

  async forget(key: AgentKey): Promise<void> {
    const isRemoved = { expression: 'removedAt > :zero', values: { ':zero': 0 } };
    if (await this.#table.deleteIf(getAgentKey(key), isRemoved)) await removeState(this.#table, key);
  }

  /** The agents of the account whose next run is sooner now. */
  async #noteUse(account: string, now: number): Promise<Agent[]> {
    const woken: Agent[] = [];
    for (const agent of await this.#listOf(account)) {
      if (agent.removedAtMs !== undefined || agent.usedAtMs > now - useNotedForMs) continue;
      const update = new ItemUpdate()
        .set('usedAt', now)
        .require('usedAt', '<=', now - useNotedForMs)
        .require('removedAt', '=', 0);
      const item = await this.#table.update(getAgentKey(agent), update);
      if (item === undefined) continue;
      const brought = await this.#bringForward(parseAgent(item));
      if (brought !== undefined) woken.push(brought);
    }
    return woken;
  }

  #toRenewal({ leaseMs }: AgentLease, progress: AgentProgress | undefined): ItemUpdate {
    const update = new ItemUpdate().set('leaseUntil', this.#clock.now() + leaseMs);
    if (progress !== undefined) update.set('progress', JSON.stringify(progress));
    if (progress?.asOfMs !== undefined) update.set('asOf', progress.asOfMs);
    return update;
  }

  #toClaimed(
    item: Item,
    lease: Pick<AgentLease, 'account' | 'name' | 'owner' | 'turn' | 'leaseMs' | 'startedAtMs' | 'validUntil'>,
  ): ClaimedAgent {
    const agent = parseAgent(item);
    const { fence, stateChunks } = item as unknown as AgentItem;
    return {
      agent,
      lease: {
        ...lease,
        fence,
        lagMs: Math.max(0, lease.startedAtMs - agent.nextRunMs),
        usedAtMs: agent.usedAtMs,
        stateWrites: 0,
        hasChunks: stateChunks !== undefined,
      },
      readState: () => readState(this.#table, item),
    };
  }

  async #updateState(
    lease: AgentLease,
    { update, state, isApplied }: { state: string | undefined } & LeasedUpdate,
  ): Promise<Item> {
    if (state === undefined) return this.#updateLeased(lease, { update, isApplied });
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
   * The item after an update by whoever holds the lease. An update may be stored and its answer lost; its repeat, by the SDK, is
   * refused, and `isApplied` then recognises what the first one left.
   *
   * @throws LeaseLostError
   */
  async #updateLeased(lease: AgentLease, { update, isApplied }: LeasedUpdate): Promise<Item> {
    const key = getAgentKey(lease);
    update.require('fence', '=', lease.fence).require('leaseOwner', '=', lease.owner);
    const item = await this.#table.update(key, update);
    if (item !== undefined) return item;
    const found = await this.#table.get(key);
    if (found !== undefined && isApplied(found)) return found;
    throw new LeaseLostError(
      `agent ${lease.name} of ${lease.account} is held by another worker or was removed`,
    );
  }

  /** The agent with its next run at the beginning of its next turn, or undefined when that is not sooner. */
  async #bringForward(agent: Agent): Promise<Agent | undefined> {
    const now = this.#clock.now();
    const nextRunMs = getTurn(agent, now) > agent.lastTurn ? now : getTurn(agent, now + agent.intervalMs);
    if (agent.failures > 0 || agent.nextRunMs <= nextRunMs) return undefined;
    const update = new ItemUpdate()
      .set('nextRunAt', nextRunMs)
      .require('nextRunAt', '=', agent.nextRunMs)
      .require('removedAt', '=', 0);
    const item = await this.#table.update(getAgentKey(agent), update);
    return item && parseAgent(item);
  }

  /** Adapts an agent to what it is to be; true when it was out of service. */
  async #change(agent: Agent, { provider, intervalMs }: AgentSpec): Promise<boolean> {
    const isBack = agent.removedAtMs !== undefined;
    if (!isBack && agent.provider === provider && agent.intervalMs === intervalMs) return false;
    const now = this.#clock.now();
    const update = new ItemUpdate()
      .set('provider', provider)
      .set('intervalMs', intervalMs)
      .require('removedAt', '=', agent.removedAtMs ?? 0);
    if (isBack) {
      update
        .set('removedAt', 0)
        .set('nextRunAt', now)
        .set('usedAt', now)
        .set('attempts', 0)
        .set('failures', 0);
    } else update.set('nextRunAt', Math.min(agent.nextRunMs, now + intervalMs));
    return (await this.#table.update(getAgentKey(agent), update)) !== undefined && isBack;
  }

  async #retire(agent: Agent): Promise<Agent> {
    if (agent.removedAtMs !== undefined) return agent;
    const update = new ItemUpdate()
      .set('removedAt', this.#clock.now())
      .set('leaseOwner', '')
      .set('leaseUntil', 0)
      .add('fence', 1)
      .remove('state')
      .remove('stateChunks')
      .remove('progress')
      .remove('asOf')
      .require('removedAt', '=', 0);
    const item = await this.#table.update(getAgentKey(agent), update);
    return item === undefined ? agent : parseAgent(item);
  }

  async #list(filter?: Condition, consistent = false): Promise<Agent[]> {
    const shards = Array.from({ length: agentShards }, (_, shard) =>
      this.#query({ pk: getAgentShard(shard), consistent, ...(filter && { filter }) }),
    );
    return (await Promise.all(shards)).flat().sort((one, other) => compareText(toId(one), toId(other)));
  }

  #listOf(account: string): Promise<Agent[]> {
    return this.#query({
      pk: getAgentPartition(account),
      prefix: getAccountPrefix(account),
      consistent: false,
    });
  }

  async #query(query: Omit<Parameters<CacheTable['queryPages']>[0], 'attributes'>): Promise<Agent[]> {
    const agents: Agent[] = [];
    for await (const items of this.#table.queryPages({ ...query, attributes: agentAttributes }))
      agents.push(...items.map(parseAgent));
    return agents;
  }
}

interface LeasedUpdate {
  readonly update: ItemUpdate;
  isApplied(found: Item): boolean;
}

function toFreshness(agents: readonly Agent[], nowMs: number): AccountFreshness {
  const tries = agents.map(({ lastRun }) =>
    lastRun?.outcome === 'STOPPED' ? undefined : lastRun?.startedAtMs,
  );
  const isHeld = ({ lease }: Agent): boolean => lease !== undefined && lease.untilMs > nowMs;
  const isOverdue = ({ nextRunMs, intervalMs }: Agent): boolean => nextRunMs + 2 * intervalMs < nowMs;
  return {
    asOfMs: getLeast(agents.map(({ asOfMs }) => asOfMs)),
    isStale: agents.some((agent) => agent.failures > 0 || (!isHeld(agent) && isOverdue(agent))),
    triedAtMs: getLeast(tries),
    tooLarge: agents.reduce((sum, agent) => sum + countTooLarge(agent), 0),
    agents: agents.map(({ account, name }) => ({ account, name })),
  };
}

/** The least of the times, if all are known. */
function getLeast(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length ? undefined : Math.min(...known);
}

function explainRefusal(agent: Agent, { turn, now }: { turn: number; now: number }): ClaimAnswer {
  if (agent.removedAtMs !== undefined) return { refusal: 'removed', agent };
  if (agent.lease !== undefined && agent.lease.untilMs > now) return { refusal: 'held', agent };
  return { refusal: agent.lastTurn >= turn ? 'done' : 'early', agent };
}

function toId({ account, name }: AgentKey): string {
  return JSON.stringify([account, name]);
}

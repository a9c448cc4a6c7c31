import { mapConcurrently } from '#core/concurrency.ts';
import type { Logger } from '#core/logger.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { CachingAgent } from './caching-agent.ts';
import { publishEvents, toAccountEvent } from './caching-agent-events.ts';
import { idleIntervalMs } from './caching-agent-schedule.ts';
import {
  type CachingAgentKey,
  type CachingAgentStore,
  isHeld,
  type StoredCachingAgent,
  type SyncAnswer,
  toCachingAgentId,
} from './caching-agent-store.ts';
import { type ConfiguredCachingAgent, chooseModes, type ModeChoice } from './choose-modes.ts';
import { pickDueCachingAgents, type SentTurns } from './due-caching-agents.ts';
import { removeAccounts } from './remove-accounts.ts';
import { type CachingAgentSender, sendMessages, toMessages } from './send-caching-agents.ts';

/** What a process that schedules remembers. */
export interface ScheduleMemory {
  /** Number of its turns. */
  turns: number;
  sent: SentTurns;
  /** The stale accounts that it logged. */
  readonly stale: StaleMemory;
}

/** The memory of a process that has scheduled nothing yet. */
export function createScheduleMemory(): ScheduleMemory {
  return { turns: 0, sent: new Map(), stale: { told: '', turns: 0 } };
}

/** What scheduling caching agents needs. */
export interface ScheduleSystem extends CachingAgentSender {
  readonly agents: CachingAgentStore;
  readonly cache: CacheStore;
  readonly bus: EventBus;
  /** Takes how many accounts are stale, once a turn: for a metric. */
  recordStaleAccounts(count: AccountCount): void;
}

/** What to schedule. */
export interface ScheduleOptions {
  /** All caching agents of all providers, by usable settings: others are removed. */
  readonly wanted: readonly CachingAgent[];
  /** Accounts whose settings are wrong: they have no caching agents, but keep their data until they are removed or mended. */
  readonly rejected?: readonly string[];
  /** What this process remembers of its earlier turns. */
  readonly memory: ScheduleMemory;
  /** Starts watching those of mode `stream`. Default: all are run by turns, and none gets a mode. */
  startWatching?(agents: readonly StoredCachingAgent[]): Promise<void>;
}

/** Milliseconds that a turn of the scheduler takes at most, apart from calls under way. */
const turnMs = 40_000;

/** What a turn did, for the log and the tests. */
export interface ScheduleReport {
  readonly added: number;
  /** Caching agents taken out of service by this turn. */
  readonly removed: number;
  /** Caching agents sent for since they were overdue, or new. */
  readonly overdue: number;
  /** Caching agents of removed accounts that were forgotten with their data. */
  readonly forgotten: number;
}

/**
 * One turn of the scheduler: adds and removes caching agents, sends for the overdue ones and for all turns of the next two minutes that
 * were not sent for, and removes the data of removed accounts. Turns of two schedulers may overlap: a claim refuses what was run.
 */
export async function scheduleTurns(
  system: ScheduleSystem,
  options: ScheduleOptions,
): Promise<ScheduleReport> {
  const { agents, clock } = system;
  const { wanted, rejected = [] } = options;
  const endsAt = clock.monotonic() + turnMs;
  const startedAtMs = clock.now();
  const synced = await agents.sync(wanted);
  const gone = synced.removed.filter(({ removedAtMs = 0 }) => removedAtMs >= startedAtMs);
  await publishChanges(system, { added: synced.added, removed: gone });
  const overdue = await send(system, synced.agents, options);
  const forgotten = await removeAccounts(system, { removed: synced.removed, wanted, rejected, endsAt });
  return { added: synced.added.length, removed: gone.length, overdue, forgotten };
}

/** Returns how many caching agents were overdue. */
async function send(
  system: ScheduleSystem,
  agents: readonly StoredCachingAgent[],
  { wanted, memory, startWatching }: ScheduleOptions,
): Promise<number> {
  const nowMs = system.clock.now();
  const known =
    startWatching === undefined ? agents : await applyModes(system, toConfigured(agents, wanted), nowMs);
  const isWatched = ({ mode }: StoredCachingAgent): boolean =>
    startWatching !== undefined && mode?.mode === 'stream';
  const count = countStaleAccounts(known, nowMs);
  system.recordStaleAccounts(count);
  tellStaleAccounts(system.log, count, memory.stale);
  // Busdriver cannot run remote ones: agents in their clusters ask by themselves.
  const remote = new Set(wanted.filter(({ isRemote }) => isRemote).map(toCachingAgentId));
  const own = known.filter((agent) => !remote.has(toCachingAgentId(agent)));
  const run = own.filter((agent) => !isWatched(agent));
  const { overdue, turns, sent } = pickDueCachingAgents(run, memory.sent, nowMs);
  const isSent = await sendMessages(system, [...toMessages(overdue), ...toMessages(turns)]);
  // What could not be sent is picked again.
  if (isSent) memory.sent = sent;
  await startWatching?.(own.filter(isWatched));
  memory.turns += 1;
  return overdue.length;
}

/** Each caching agent with its configuration. */
function toConfigured(
  agents: readonly StoredCachingAgent[],
  wanted: readonly CachingAgent[],
): ConfiguredCachingAgent[] {
  const byId = new Map(wanted.map((agent) => [toCachingAgentId(agent), agent]));
  return agents.flatMap((agent) => {
    const configured = byId.get(toCachingAgentId(agent));
    return configured === undefined ? [] : [{ agent, configured }];
  });
}

async function publishChanges(
  system: ScheduleSystem,
  { added, removed }: Pick<SyncAnswer, 'added' | 'removed'>,
): Promise<void> {
  const atMs = system.clock.now();
  const accounts = new Set([...added, ...removed].map(({ account }) => account));
  const events = [...accounts].map((account) => {
    const listNames = (agents: readonly CachingAgentKey[]): string[] =>
      agents.filter((agent) => agent.account === account).map(({ name }) => name);
    const change = { added: listNames(added), removed: listNames(removed) };
    system.log.info('the agents of an account have changed', { account, ...change });
    return toAccountEvent(account, { atMs, ...change });
  });
  await publishEvents(system, events, 'events of accounts');
}

interface ModeSystem {
  readonly agents: Pick<CachingAgentStore, 'setMode'>;
  readonly log: Logger;
}

/** Writes at a time. */
const concurrency = 16;

/**
 * Puts caching agents into the modes chosen for them. One that another process changed meanwhile is returned unchanged: the next turn
 * handles it.
 *
 * @param nowMs wall time, milliseconds
 * @returns the caching agents with their modes after this.
 */
function applyModes(
  system: ModeSystem,
  agents: readonly ConfiguredCachingAgent[],
  nowMs: number,
): Promise<readonly StoredCachingAgent[]> {
  return mapConcurrently(chooseModes(agents, nowMs), concurrency, ({ agent, choice }) =>
    applyMode(system, agent, choice),
  );
}

async function applyMode(
  { agents, log }: ModeSystem,
  agent: StoredCachingAgent,
  choice: ModeChoice,
): Promise<StoredCachingAgent> {
  const { account, name, mode: before } = agent;
  if (before?.mode === choice.mode && before.reason === choice.reason) return agent;
  const changed = await agents.setMode(agent, choice);
  if (changed !== undefined && before !== undefined && before.mode !== choice.mode)
    log.info('the mode of an agent has changed', { account, agent: name, ...choice });
  return changed ?? agent;
}

/** Milliseconds that a run may take, and wait for a worker, before its account counts as stale. */
const runMs = 5 * 60_000;

/** Unsuccessful runs after which an account counts as stale that was never read to its end. */
const vainRunsMax = 5;

/** Names in one line of the log at most. */
const toldMax = 50;

/** Turns of the scheduler after which the same accounts are logged again. */
const tellAgainTurns = 10;

/** The accounts that have caching agents. */
export interface AccountCount {
  readonly all: number;
  /** Names of those whose cache is older than it should be, sorted. */
  readonly stale: readonly string[];
}

/** What a process remembers of what it logged. */
interface StaleMemory {
  told: string;
  turns: number;
}

/**
 * Counts the accounts of caching agents, and the stale ones, of which one caching agent is behind: its data is older than two of its
 * intervals (or two of an idle account's, if these are longer) plus five minutes; or, where nothing is cached, it failed or lost its worker
 * five times in a row, or was not begun for as long. A first list under way may take its time.
 */
function countStaleAccounts(agents: readonly StoredCachingAgent[], nowMs: number): AccountCount {
  const stale = new Set(agents.filter((agent) => isBehind(agent, nowMs)).map(({ account }) => account));
  return { all: new Set(agents.map(({ account }) => account)).size, stale: [...stale].sort() };
}

/** Logs the names of stale accounts when they have changed, and again in each tenth turn. */
export function tellStaleAccounts(log: Logger, { all, stale }: AccountCount, memory: StaleMemory): void {
  const text = JSON.stringify(stale);
  memory.turns = text === memory.told ? memory.turns + 1 : 0;
  const isOver = stale.length === 0 && memory.told !== '' && memory.told !== '[]';
  memory.told = text;
  if (isOver) log.info('no account is stale any more', { all });
  if (stale.length === 0 || memory.turns % tellAgainTurns !== 0) return;
  log.warn('accounts are stale', { accounts: stale.slice(0, toldMax), stale: stale.length, all });
}

function isBehind({ asOfMs, attempts, failures, ...agent }: StoredCachingAgent, nowMs: number): boolean {
  const toleranceMs = 2 * Math.max(agent.intervalMs, idleIntervalMs) + runMs;
  if (asOfMs !== undefined) return asOfMs + toleranceMs < nowMs;
  if (failures + attempts >= vainRunsMax) return true;
  return !isHeld(agent, nowMs) && agent.nextRunMs + toleranceMs < nowMs;
}

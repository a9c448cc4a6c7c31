import type { CacheStore } from '../cache/cache-store.ts';
import { getErrorMessage } from '../errors.ts';
import type { EventBus } from '../tasks/task-events.ts';
import { toAccountEvent } from './agent-events.ts';
import type { Agent, AgentKey, AgentStore, SyncAnswer } from './agent-store.ts';
import type { CachingAgent } from './caching-agent.ts';
import { removeAccounts } from './remove-accounts.ts';
import { pickOverdue, pickUpcoming, type ScheduleMemory } from './revive-agents.ts';
import { type AgentSender, sendMessages, toMessages } from './send-agents.ts';
import { type AccountCount, countStaleAccounts, tellStaleAccounts } from './stale-accounts.ts';

/** What scheduling agents needs. */
export interface ScheduleSystem extends AgentSender {
  readonly agents: AgentStore;
  readonly cache: CacheStore;
  readonly bus: EventBus;
  /** Takes how many accounts are stale, once a turn: for a metric. */
  recordStaleAccounts(count: AccountCount): void;
}

/** What to schedule. */
export interface ScheduleOptions {
  /** All agents of all providers, of settings that could be used: what is not among them is removed. */
  readonly wanted: readonly CachingAgent[];
  /** Accounts whose settings are wrong: they have no agents, but keep their data until they are gone or mended. */
  readonly rejected?: readonly string[];
  /** What this process remembers of its earlier turns. */
  readonly memory: ScheduleMemory;
  /** Sees to agents of mode `stream` that nobody follows. Default: they are run like others. */
  startFollowing?(agents: readonly Agent[]): Promise<void>;
}

/** Milliseconds that a turn of the scheduler takes at most, but for the calls under way. */
const turnMs = 40_000;

/** What a turn did, for the log and the tests. */
export interface ScheduleReport {
  readonly added: number;
  /** Agents taken out of service by this turn. */
  readonly removed: number;
  /** Agents for which messages were sent since they were overdue, or new. */
  readonly revived: number;
  /** Agents of removed accounts that were forgotten with their data. */
  readonly forgotten: number;
}

/**
 * One turn of the scheduler: adds and removes agents, sends for those that are overdue, gathers those that run at the same time
 * in common messages every now and then, and removes the data of accounts that are gone.
 */
export async function scheduleAgents(
  system: ScheduleSystem,
  options: ScheduleOptions,
): Promise<ScheduleReport> {
  const { agents, clock } = system;
  const { wanted, memory, rejected = [] } = options;
  const endsAt = clock.monotonic() + turnMs;
  const startedAtMs = clock.now();
  const synced = await agents.sync(wanted);
  const gone = synced.removed.filter(({ removedAtMs = 0 }) => removedAtMs >= startedAtMs);
  await publishChanges(system, { added: synced.added, removed: gone });
  const revived = await revive(system, options);
  const forgotten = await removeAccounts(system, { removed: synced.removed, wanted, rejected, endsAt });
  memory.turns += 1;
  return { added: synced.added.length, removed: gone.length, revived, forgotten };
}

async function revive(system: ScheduleSystem, { wanted, memory, startFollowing }: ScheduleOptions) {
  const nowMs = system.clock.now();
  const modes = new Map(wanted.map((agent) => [toId(agent), agent.mode]));
  const listed = (await system.agents.list()).filter(({ removedAtMs }) => removedAtMs === undefined);
  const isFollowed = (agent: Agent): boolean =>
    startFollowing !== undefined && modes.get(toId(agent)) === 'stream';
  const known = listed.filter((agent) => modes.has(toId(agent)));
  const run = known.filter((agent) => !isFollowed(agent));
  const count = countStaleAccounts(known, nowMs);
  system.recordStaleAccounts(count);
  tellStaleAccounts(system.log, count, memory.stale);
  const overdue = pickOverdue(run, { memory, nowMs });
  await sendMessages(system, toMessages(overdue));
  await sendMessages(system, toMessages(pickUpcoming(run, { memory, nowMs })), { isEarly: true });
  const isUnheld = ({ lease }: Agent): boolean => lease === undefined || lease.untilMs <= nowMs;
  await startFollowing?.(listed.filter((agent) => isFollowed(agent) && isUnheld(agent)));
  return overdue.length;
}

async function publishChanges(
  { bus, clock, log }: ScheduleSystem,
  { added, removed }: SyncAnswer,
): Promise<void> {
  const changes = [
    ...added.map(({ account, name }) => ({ account, added: [name], removed: [] })),
    ...removed.map(({ account, name }) => ({ account, added: [], removed: [name] })),
  ];
  const atMs = clock.now();
  const events = [...Map.groupBy(changes, ({ account }) => account)].map(([account, own]) => {
    const change = {
      added: own.flatMap((one) => one.added),
      removed: own.flatMap((one) => one.removed),
    };
    log.info('the agents of an account have changed', { account, ...change });
    return toAccountEvent(account, { atMs, ...change });
  });
  if (events.length === 0) return;
  try {
    await bus.publish(events);
  } catch (error) {
    log.warn('events of accounts could not be published', { cause: getErrorMessage(error) });
  }
}

function toId({ account, name }: AgentKey): string {
  return JSON.stringify([account, name]);
}

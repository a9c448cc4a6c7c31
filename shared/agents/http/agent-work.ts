import { toCacheOwner } from '#caching/scheduling/cache-owner.ts';
import {
  type CachingAgentStoreServices,
  openCachingAgentStore,
} from '#caching/services/caching-agent-store.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import type { Services } from '#platform/services/services.ts';
import { isFinished, isLeased, type OpenRow, staleRowAgeMs, type TaskStatus } from '#tasks/task.ts';
import type { AgentSession } from '../agent-session.ts';
import type { Work } from '../protocol/messages.ts';
import { type AgentHub, openAgentHub } from '../services/agent-hub.ts';
import { openSessionPlaces } from '../services/session-places.ts';
import { type AgentCaller, isOutdated } from './agent-handler.ts';

interface AgentWorkHub extends AgentHub, Pick<CachingAgentStoreServices, 'agents'> {}

/** Opens that. @throws as `openAgentHub` */
export async function openAgentWork(services: Services): Promise<AgentWorkHub> {
  const hub = await openAgentHub(services);
  return { ...hub, agents: openCachingAgentStore(services).agents };
}

/** Reads of one account that are looked at, of which an agent may run a part at once. */
const readsMax = 20;

/** Tasks of one account that are looked at: those that others hold, or that wait, keep newer ones waiting only where they are so many. */
const tasksMax = 100;

/** Accounts and tasks that are looked at together. */
const concurrency = 8;

/** Milliseconds for which somebody waits at most until an account is fresh. */
const demandMs = 60_000;

/** Milliseconds between two records of when an agent was last heard of. */
const touchMs = 10_000;

/**
 * Lists the work for an agent: the accounts to bring up to date that it keeps cached, the reads of its accounts that no agent has taken,
 * and the open tasks without a holder, the oldest of each account first.
 */
export async function listWork(hub: AgentWorkHub, caller: AgentCaller): Promise<Work> {
  const { session, accounts } = caller;
  const now = hub.clock.now();
  if (now - session.seenAtMs >= touchMs) await hub.sessions.touch(session.id, now);
  const served = isOutdated(session, hub.agentSettings) ? [] : [...accounts];
  const [refreshes, work] = await Promise.all([
    listRefreshes(hub, caller),
    mapConcurrently(served, concurrency, (account) => listAccountWork(hub, session, account)),
  ]);
  const place = openSessionPlaces(hub.all).note(session.id, hub.agentSettings.returnIntervalMs);
  return { work: [...refreshes, ...work.flat()], ...place };
}

/** The accounts that the agent keeps cached and that somebody waits for to be fresh; each with as of when. */
async function listRefreshes({ agents, clock }: AgentWorkHub, caller: AgentCaller): Promise<Work['work']> {
  const sinceMs = clock.now() - demandMs;
  const demands = [...(await agents.listDemands(toCacheOwner(caller.session.agentId)))];
  return demands
    .filter(([account, wantedMs]) => wantedMs >= sinceMs && caller.accounts.has(account))
    .map(([account, wantedMs]) => ({ kind: 'REFRESH', account, id: String(wantedMs) }));
}

async function listAccountWork(
  hub: AgentHub,
  session: Pick<AgentSession, 'journalFormat'>,
  account: string,
): Promise<Work['work']> {
  const [reads, rows] = await Promise.all([listReads(hub, account), hub.inboxes.list(account, tasksMax)]);
  const isOpen = await mapConcurrently(rows, concurrency, async (row) => {
    const task = await findWaiting(hub, account, row);
    // An agent that would be refused does not ask again and again.
    return task !== undefined && (task.journalFormat ?? session.journalFormat) === session.journalFormat;
  });
  const tasks = rows.filter((_, index) => isOpen[index]);
  return [
    ...reads.map((id) => ({ kind: 'READ', account, id })),
    ...tasks.map(({ taskId }) => ({ kind: 'TASK', account, id: taskId })),
  ];
}

/** The reads of an account that wait for an agent. Somebody waits for each: they come before tasks. */
async function listReads(hub: AgentHub, account: string): Promise<readonly string[]> {
  const ids = await hub.reads.list(account, readsMax);
  const reads = await mapConcurrently(ids, concurrency, (id) => hub.reads.find(id));
  const nowMs = hub.clock.now();
  const isWaiting = (index: number): boolean => {
    const read = reads[index];
    return read !== undefined && read.answer === undefined && read.takenUntilMs <= nowMs;
  };
  return ids.filter((_, index) => isWaiting(index));
}

/** The task that a row points to and that waits for its lease. Rows that point to none, and are not about to, are removed. */
async function findWaiting(hub: AgentHub, account: string, row: OpenRow): Promise<TaskStatus | undefined> {
  const now = hub.clock.now();
  const task = await hub.store.findStatus(row.taskId);
  const isOwn = task?.openRow === row.key && task.inbox?.account === account;
  if (!isOwn) {
    // Of a task that goes on with others it may be the row by which agents of this account are to find it next.
    const isOpen = task?.openRow === row.key && !isFinished(task);
    if (!isOpen && now - row.acceptedAtMs >= staleRowAgeMs) await hub.inboxes.remove(account, row);
    return undefined;
  }
  return task.state === 'STARTED' && !isLeased(task, now) ? task : undefined;
}

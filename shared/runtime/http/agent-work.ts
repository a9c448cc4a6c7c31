import type { Work } from '../../agent-protocol/messages.ts';
import { mapConcurrently } from '../../core/concurrency.ts';
import { type OpenRow, staleRowAgeMs } from '../../core/tasks/task.ts';
import type { AgentHub } from '../services/agent-hub.ts';
import type { AgentCaller } from './agent-handler.ts';

/** Tasks, and reads, of one account that are looked at, of which an agent may run a part at once. */
const rowsMax = 20;

/** Accounts and tasks that are looked at together. */
const concurrency = 8;

/** Milliseconds between two records of when an agent was last heard of. */
const touchMs = 10_000;

/**
 * What there is to do for an agent: the reads of its accounts that nobody has taken, and the open tasks that nobody holds, the oldest of
 * each account first.
 */
export async function listWork(hub: AgentHub, { session, accounts }: AgentCaller): Promise<Work> {
  const now = hub.clock.now();
  if (now - session.seenAtMs >= touchMs) await hub.sessions.touch(session.id, now);
  const work = await mapConcurrently([...accounts], concurrency, (account) => listAccountWork(hub, account));
  return { work: work.flat() };
}

async function listAccountWork(hub: AgentHub, account: string): Promise<Work['work']> {
  const [reads, rows] = await Promise.all([listReads(hub, account), hub.inboxes.list(account, rowsMax)]);
  const isOpen = await mapConcurrently(rows, concurrency, (row) => isWaiting(hub, account, row));
  const tasks = rows.filter((_, index) => isOpen[index]);
  return [
    ...reads.map((id) => ({ kind: 'READ', account, id })),
    ...tasks.map(({ taskId }) => ({ kind: 'TASK', account, id: taskId })),
  ];
}

/** The reads of an account that wait for an agent. Somebody waits for each: they come before tasks. */
async function listReads(hub: AgentHub, account: string): Promise<readonly string[]> {
  const ids = await hub.reads.list(account, rowsMax);
  const reads = await mapConcurrently(ids, concurrency, (id) => hub.reads.find(id));
  const nowMs = hub.clock.now();
  const isWaiting = (index: number): boolean => {
    const read = reads[index];
    return read !== undefined && read.answer === undefined && read.takenUntilMs <= nowMs;
  };
  return ids.filter((_, index) => isWaiting(index));
}

/** Whether a row points to a task that waits for its lease. Rows that point to none, and are not about to, are removed. */
async function isWaiting(hub: AgentHub, account: string, row: OpenRow): Promise<boolean> {
  const now = hub.clock.now();
  const task = await hub.store.findStatus(row.taskId);
  const isOwn = task?.openRow === row.key && task.inbox?.account === account;
  if (!isOwn) {
    if (now - row.acceptedAtMs >= staleRowAgeMs) await hub.inboxes.remove(account, row);
    return false;
  }
  return task.state === 'STARTED' && task.leaseUntilMs <= now;
}

import { getErrorMessage } from '../errors.ts';
import type { AgentStore } from './agent-store.ts';
import { type AgentSender, sendMessages, toDueAgent, toMessages } from './send-agents.ts';

/** What noting the use of accounts needs. A cache context is one. */
export interface UseContext extends AgentSender {
  readonly agents: Pick<AgentStore, 'wake'>;
}

/** Accounts at a time. */
const concurrency = 8;

/**
 * Notes that accounts are read or deployed to. Agents of accounts that were idle run again at once, and at their interval from
 * then on. Within a process that costs nothing for an account whose use was noted in the last 5 minutes, else a query and
 * perhaps a write for each of its agents: let it run beside what it is noted for, and await it before the function ends.
 *
 * Never throws: what goes wrong is logged, and the next use is noted again.
 */
export async function noteUse(context: UseContext, accounts: readonly string[]): Promise<void> {
  const left = new Set(accounts).values();
  const work = async (): Promise<void> => {
    for (const account of left) await wake(context, account);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, accounts.length) }, work));
}

async function wake(context: UseContext, account: string): Promise<void> {
  try {
    const woken = await context.agents.wake(account);
    await sendMessages(context, toMessages(woken.map(toDueAgent)));
  } catch (error) {
    context.log.warn('the use of an account could not be noted', { account, cause: getErrorMessage(error) });
  }
}

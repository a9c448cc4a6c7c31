import { forEachConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { CachingAgentStore } from './caching-agent-store.ts';
import { pickDueCachingAgents } from './due-caching-agents.ts';
import { type CachingAgentSender, sendMessages, toMessages } from './send-caching-agents.ts';

/** What noting the use of accounts needs. A cache context is one. */
export interface UseContext extends CachingAgentSender {
  readonly agents: Pick<CachingAgentStore, 'wake'>;
}

/** Accounts at a time. */
const concurrency = 8;

/**
 * Notes that accounts are read or deployed to. Caching agents of idle accounts run again at once, and then at their interval: it sends
 * messages as far ahead as the scheduler does. In a process this is free for an account noted in the last 5 minutes, else it costs a query
 * and perhaps a write for each caching agent: run it beside the work that it is noted for, and await it before the function ends.
 *
 * Never throws: failures are logged, and the next use is noted again.
 */
export async function touchAccounts(context: UseContext, accounts: readonly string[]): Promise<void> {
  await forEachConcurrently([...new Set(accounts)], concurrency, (account) => wake(context, account));
}

async function wake(context: UseContext, account: string): Promise<void> {
  try {
    const woken = await context.agents.wake(account);
    const { overdue, turns } = pickDueCachingAgents(woken, new Map(), context.clock.now());
    await sendMessages(context, [...toMessages(overdue), ...toMessages(turns)]);
  } catch (error) {
    context.log.warn('the use of an account could not be noted', { account, cause: getErrorMessage(error) });
  }
}

import type { Account } from '#accounts/model/account.ts';
import type { Clock } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { ViewReader } from './views.ts';

/** What adding details needs. The context of views has everything but the memory. */
export interface DetailsContext {
  readonly views: Pick<ViewReader, 'listAccountDetails'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** What a process remembers between calls. */
  readonly memory: DetailsMemory;
}

/** Cached details of accounts, as they were last read. */
export type DetailsMemory = Map<string, JsonObject>;

/** Milliseconds after which accounts are answered without them: they are polled, and must not wait for an unavailable store. */
const waitMs = 3_000;

/** Accounts with the details that only the cache has; where it is too slow, the previous ones. Never throws. */
export async function addCachedDetails(
  accounts: readonly Account[],
  { views, clock, log, memory }: DetailsContext,
): Promise<readonly Account[]> {
  const names = accounts.map(({ name }) => name);
  try {
    const deadline = { ms: waitMs, what: 'reading details of accounts' };
    const found = await within(clock, deadline, () => views.listAccountDetails(names));
    for (const name of names) memory.set(name, found.get(name) ?? {});
  } catch (error) {
    log.warn('details of accounts cannot be read from the cache', { error });
  }
  return accounts.map((account) => ({
    ...account,
    details: { ...account.details, ...memory.get(account.name) },
  }));
}

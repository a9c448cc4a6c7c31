import type { Account } from '#accounts/model/account.ts';
import type { Clock } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';
import type { ViewReader } from './views.ts';

/** What adding namespaces needs. The context of views has everything but the memory. */
export interface NamespacesContext {
  readonly views: Pick<ViewReader, 'listNamespaces'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** What a process remembers between calls. */
  readonly memory: NamespacesMemory;
}

/** Namespaces of accounts, as they were last read. */
export type NamespacesMemory = Map<string, readonly string[]>;

/** Milliseconds after which accounts are answered without them: they are polled, and must not wait for an unavailable store. */
const waitMs = 3_000;

/** Accounts with their cached namespaces where their configuration names none; where it is too slow, the previous ones. Never throws. */
export async function addCachedNamespaces(
  accounts: readonly Account[],
  { views, clock, log, memory }: NamespacesContext,
): Promise<readonly Account[]> {
  const wanted = accounts.filter(lacksNamespaces).map(({ name }) => name);
  try {
    const deadline = { ms: waitMs, what: 'reading namespaces' };
    const found = await within(clock, deadline, () => views.listNamespaces(wanted));
    for (const name of wanted) memory.set(name, found.get(name) ?? []);
  } catch (error) {
    log.warn('namespaces of accounts cannot be told', { error });
  }
  return accounts.map((account) => (lacksNamespaces(account) ? toShown(account, memory) : account));
}

function toShown(account: Account, memory: NamespacesMemory): Account {
  const namespaces = [...(memory.get(account.name) ?? [])];
  return { ...account, details: { ...account.details, namespaces } };
}

/** Accounts of providers without namespaces do not have the member. */
function lacksNamespaces({ details: { namespaces } }: Account): boolean {
  return Array.isArray(namespaces) && namespaces.length === 0;
}

import type { Account } from './account.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { ViewReader } from './views.ts';

/** What adding namespaces needs. The context of views is one. */
export interface NamespacesContext {
  readonly views: Pick<ViewReader, 'listNamespaces'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** Accounts at a time. */
const concurrency = 64;

/** Milliseconds after which accounts go without: they are polled, and must not wait for a store that is away. */
const waitMs = 3_000;

/**
 * Accounts with the namespaces that are cached of them, where their configuration names none. Those whose namespaces cannot be read
 * in time keep an empty list: never throws.
 */
export async function addCachedNamespaces(
  accounts: readonly Account[],
  context: NamespacesContext,
): Promise<readonly Account[]> {
  const added = new Map<Account, Account>();
  const failures: unknown[] = [];
  const enough = new AbortController();
  const add = async (account: Account): Promise<void> => {
    try {
      const namespaces = [...(await context.views.listNamespaces(account.name))];
      added.set(account, { ...account, details: { ...account.details, namespaces } });
    } catch (error) {
      failures.push(error);
    }
  };
  const left = accounts.filter(lacksNamespaces).values();
  const work = async (): Promise<void> => {
    for (const account of left) {
      if (enough.signal.aborted) return;
      await add(account);
    }
  };
  const wait = context.clock.sleep(waitMs, enough.signal).then(
    () => failures.push(new Error(`no answer within ${waitMs} ms`)),
    () => undefined,
  );
  await Promise.race([Promise.all(Array.from({ length: concurrency }, work)), wait]);
  enough.abort();
  const [error] = failures;
  if (error !== undefined) context.log.warn('namespaces of accounts cannot be told', { error });
  return accounts.map((account) => added.get(account) ?? account);
}

/** Accounts of providers without namespaces do not have the member. */
function lacksNamespaces({ details: { namespaces } }: Account): boolean {
  return Array.isArray(namespaces) && namespaces.length === 0;
}

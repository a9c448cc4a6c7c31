import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Account } from '../settings/account.ts';
import type { ViewReader } from '../views/views.ts';

/** What adding namespaces needs. The context of views has all but the memory. */
export interface NamespacesContext {
  readonly views: Pick<ViewReader, 'listNamespaces'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Logger;
  /** What a process remembers from one call to the next. */
  readonly memory: NamespacesMemory;
}

/** Namespaces of accounts, as they were read last, and when: wall time in milliseconds. */
export type NamespacesMemory = Map<string, { readonly namespaces: readonly string[]; readonly atMs: number }>;

/** Milliseconds for which namespaces are not read again: hundreds of accounts are polled twice a minute. */
const freshForMs = 60_000;

/** Accounts at a time. */
const concurrency = 64;

/** Milliseconds after which accounts go without: they are polled, and must not wait for a store that is away. */
const waitMs = 3_000;

/**
 * Accounts with the namespaces that are cached of them, where their configuration names none; they may be a minute older than the
 * cache. Where they cannot be read in time those of before are shown, or none: never throws.
 */
export async function addCachedNamespaces(
  accounts: readonly Account[],
  context: NamespacesContext,
): Promise<readonly Account[]> {
  const { memory, clock } = context;
  const failures: unknown[] = [];
  const enough = new AbortController();
  const remember = async ({ name }: Account): Promise<void> => {
    try {
      const namespaces = await context.views.listNamespaces(name);
      // An account of which nothing is cached yet is looked at again at once.
      if (namespaces.length > 0) memory.set(name, { namespaces, atMs: clock.now() });
      else memory.delete(name);
    } catch (error) {
      failures.push(error);
    }
  };
  const isFresh = ({ name }: Account): boolean => {
    const known = memory.get(name);
    return known !== undefined && clock.now() - known.atMs < freshForMs;
  };
  const left = accounts.filter((account) => lacksNamespaces(account) && !isFresh(account)).values();
  const work = async (): Promise<void> => {
    for (const account of left) {
      if (enough.signal.aborted) return;
      await remember(account);
    }
  };
  const wait = clock.sleep(waitMs, enough.signal).then(
    () => failures.push(new Error(`no answer within ${waitMs} ms`)),
    () => undefined,
  );
  await Promise.race([Promise.all(Array.from({ length: concurrency }, work)), wait]);
  enough.abort();
  const [error] = failures;
  if (error !== undefined) context.log.warn('namespaces of accounts cannot be told', { error });
  return accounts.map((account) => (lacksNamespaces(account) ? toShown(account, memory) : account));
}

function toShown(account: Account, memory: NamespacesMemory): Account {
  const namespaces = [...(memory.get(account.name)?.namespaces ?? [])];
  return { ...account, details: { ...account.details, namespaces } };
}

/** Accounts of providers without namespaces do not have the member. */
function lacksNamespaces({ details: { namespaces } }: Account): boolean {
  return Array.isArray(namespaces) && namespaces.length === 0;
}

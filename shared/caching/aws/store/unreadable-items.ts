import type { Logger } from '#core/logger.ts';
import { MalformedItemError } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { unescapeKey } from './cache-keys.ts';

/** Partitions remembered as logged. */
const toldMax = 1_000;

/**
 * Items of the cache's table that cannot be read, since another release wrote them: each counts as absent, is overwritten, and is logged
 * once. Nothing is lost: the clusters have all of it.
 */
export class UnreadableItems {
  readonly #log: Pick<Logger, 'error'> | undefined;
  readonly #told = new Set<string>();
  /** Accounts that must be cached again: whether `take` has returned them yet. */
  readonly #damaged = new Map<string, 'found' | 'taken'>();

  /** @param log default: no log */
  constructor(log?: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** The parsed item; undefined when it cannot be read. @throws errors other than MalformedItemError */
  read<T>(item: Item & Pick<ItemKey, 'pk'>, parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof MalformedItemError)) throw error;
      this.#note(item.pk, findAccount(item), error);
      return undefined;
    }
  }

  /** Whether an account has an unreadable item for which it is not cached again yet: true once for each account. */
  take(account: string): boolean {
    if (this.#damaged.get(account) !== 'found') return false;
    this.#damaged.set(account, 'taken');
    return true;
  }

  #note(partition: string, account: string | undefined, error: Error): void {
    if (account !== undefined && !this.#damaged.has(account)) this.#damaged.set(account, 'found');
    if (this.#told.has(partition)) return;
    if (this.#told.size >= toldMax) this.#told.clear();
    this.#told.add(partition);
    this.#log?.error('an item of the cache cannot be read: it counts as absent, and is cached anew', {
      ...(account !== undefined && { account }),
      cause: error.message,
    });
  }
}

/** The account of an item, from its attribute or its partition: in rows of applications the account follows the application. */
function findAccount({ pk, account }: Item & Pick<ItemKey, 'pk'>): string | undefined {
  if (typeof account === 'string') return account;
  const [sort, first, second] = pk.split('#');
  const found = sort === 'ROW' ? second : first;
  return found === undefined ? undefined : unescapeKey(found);
}

import type { Logger } from '#core/logger.ts';
import { MalformedItemError } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { unescapeKey } from './cache-keys.ts';

/** Partitions that are remembered as told of. */
const toldMax = 1_000;

/**
 * What of the cache's table cannot be read, since another release wrote it: it counts as absent, is written over by what comes, and is told once.
 * Nothing of it is lost: clusters have it all.
 */
export class UnreadableItems {
  readonly #log: Pick<Logger, 'error'> | undefined;
  readonly #told = new Set<string>();
  /** What is to be cached anew, and what was said to be. */
  readonly #damaged = new Map<string, 'found' | 'taken'>();

  /** @param log default: nobody is told */
  constructor(log?: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** What is made of an item; undefined where that cannot be. @throws what is no MalformedItemError */
  read<T>(item: Item & Pick<ItemKey, 'pk'>, parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof MalformedItemError)) throw error;
      this.#note(item.pk, findAccount(item), error);
      return undefined;
    }
  }

  /** Whether something of an account was found to be unreadable that is not cached anew yet: true once for each account. */
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

/** Whose an item is, by what it says or its partition: rows of applications have the account behind the application. */
function findAccount({ pk, account }: Item & Pick<ItemKey, 'pk'>): string | undefined {
  if (typeof account === 'string') return account;
  const [sort, first, second] = pk.split('#');
  const found = sort === 'ROW' ? second : first;
  return found === undefined ? undefined : unescapeKey(found);
}

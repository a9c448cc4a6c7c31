import { forEachConcurrently } from '#core/concurrency.ts';
import {
  InvalidInputError,
  NotFoundError,
  RefusedChangeError,
  UnavailableError,
  ViolationList,
  VisibleError,
} from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { joinPath } from '#settings/spring-config.ts';

/** Accounts that are looked at, and changed, at a time. */
const accountsAtOnce = 4;

/** An account of a list, and its place there: `[2]`, or nothing where the body is the account alone. */
export interface PlacedAccount {
  readonly name: string;
  readonly place: string;
}

/** @throws InvalidInputError naming each account that is in a list more than once, whatever the case of its name */
export function checkNamesDiffer(accounts: readonly PlacedAccount[]): void {
  const seen = new Set<string>();
  const doubled = accounts.filter(({ name }) => {
    const key = name.toLowerCase();
    const isSeen = seen.has(key);
    seen.add(key);
    return isSeen;
  });
  if (doubled.length === 0) return;
  throw new InvalidInputError(
    doubled.map(({ name, place }) => `${joinPath(place, 'name')}: the list has ${name} more than once`),
  );
}

/**
 * Looks at every account before anything is changed.
 *
 * @throws InvalidInputError with what is wrong, each violation with the place of its account; at once what is no matter of one account,
 *   such as AccessDeniedError
 */
export async function checkEach<T extends PlacedAccount>(
  accounts: readonly T[],
  check: (account: T) => Promise<void> | void,
): Promise<void> {
  const found = new Map<T, InvalidInputError>();
  await forEachConcurrently(accounts, accountsAtOnce, async (account) => {
    try {
      await check(account);
    } catch (error) {
      found.set(account, toViolations(account.place, error));
    }
  });
  const violations = new ViolationList();
  for (const account of accounts) {
    const error = found.get(account);
    if (error !== undefined) violations.add(error);
  }
  violations.check();
}

/** @throws the error, where it is no matter of the account alone */
function toViolations(place: string, error: unknown): InvalidInputError {
  if (error instanceof InvalidInputError) {
    const { told, omitted } = error;
    return new InvalidInputError(
      told.map((text) => joinPath(place, text)),
      { omitted },
    );
  }
  if ((error instanceof RefusedChangeError || error instanceof NotFoundError) && place !== '')
    return new InvalidInputError(`${place}: ${error.message}`);
  throw error;
}

/**
 * Changes accounts, some at a time. After a failure nothing more is begun.
 *
 * @throws what a change threw where none was done; else UnavailableError, which says which were and which were not
 */
export async function changeEach<T extends Pick<PlacedAccount, 'name'>>(
  accounts: readonly T[],
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
  change: (account: T) => Promise<void>,
): Promise<void> {
  const done = new Set<string>();
  try {
    await forEachConcurrently(accounts, accountsAtOnce, async (account) => {
      signal.throwIfAborted();
      await change(account);
      done.add(account.name);
    });
  } catch (error) {
    if (done.size === 0) throw error;
    log.warn('some accounts of a list were not changed', { error });
    const reason = error instanceof VisibleError ? error.message : 'Not all of it could be done';
    const left = accounts.map(({ name }) => name).filter((name) => !done.has(name));
    throw new UnavailableError(`${reason}; done: ${[...done].join(', ')}; not done: ${left.join(', ')}`, {
      cause: error,
    });
  }
}

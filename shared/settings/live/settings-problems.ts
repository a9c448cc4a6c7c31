import type { AccountWarning } from '#accounts/model/account.ts';
import type { Logger } from '#core/logger.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';

/** Lines that one change of the settings may log; of further ones only their number. */
export const problemsLoggedMax = 100;

/** Characters of a reason that are logged. */
export const reasonLengthMax = 1_000;

/**
 * Makes what logs problems of the settings in force: called with settings that come into force, it logs those that the settings before them
 * did not have.
 */
export function createProblemLog(
  log: Pick<Logger, 'warn'>,
): (providers: Pick<ProviderSet, 'rejectedAccounts' | 'accountWarnings'>) => void {
  let told: ReadonlySet<string> = new Set();
  return ({ rejectedAccounts, accountWarnings }) => {
    const problems: readonly AccountWarning[] = [
      ...rejectedAccounts.map(({ name, reason }) => ({ message: 'account left out', account: name, reason })),
      ...accountWarnings,
    ];
    const fresh = problems.filter((problem) => !told.has(JSON.stringify(problem)));
    for (const { message, reason, account } of fresh.slice(0, problemsLoggedMax)) {
      log.warn(message, {
        ...(account !== undefined && { account }),
        reason: reason.slice(0, reasonLengthMax),
      });
    }
    const count = fresh.length - problemsLoggedMax;
    if (count > 0) log.warn('more of the settings is left out, or of no effect', { count });
    told = new Set(problems.map((problem) => JSON.stringify(problem)));
  };
}

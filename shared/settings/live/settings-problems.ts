import type { AccountWarning } from '#accounts/model/account.ts';
import type { Logger } from '#core/logger.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';

/** Lines that one change of the settings may log; of further ones only their number. */
export const problemsLoggedMax = 100;

/** Characters of a reason that are logged. */
export const reasonLengthMax = 1_000;

/** Logs problems of the settings in force: once, and again only after they were absent for a while. */
export class SettingsProblems {
  readonly #log: Logger;
  #told: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes the problems of settings that come into force, and logs those that the settings before them did not have. */
  tell({
    rejectedAccounts,
    accountWarnings,
  }: Pick<ProviderSet, 'rejectedAccounts' | 'accountWarnings'>): void {
    const problems: readonly AccountWarning[] = [
      ...rejectedAccounts.map(({ name, reason }) => ({ message: 'account left out', account: name, reason })),
      ...accountWarnings,
    ];
    const fresh = problems.filter((problem) => !this.#told.has(JSON.stringify(problem)));
    for (const { message, reason, account } of fresh.slice(0, problemsLoggedMax)) {
      this.#log.warn(message, {
        ...(account !== undefined && { account }),
        reason: reason.slice(0, reasonLengthMax),
      });
    }
    if (fresh.length > problemsLoggedMax) {
      this.#log.warn('more of the settings is left out, or of no effect', {
        count: fresh.length - problemsLoggedMax,
      });
    }
    this.#told = new Set(problems.map((problem) => JSON.stringify(problem)));
  }
}

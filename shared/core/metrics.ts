/** The place of our metrics in CloudWatch. */
const ours = {
  namespace: 'Busdriver',
  /** Its value is the name of the writing function, which distinguishes installations. */
  dimension: 'FunctionName',
} as const;

/** Seconds by which a caching agent ran later than it was due: written by its worker, and watched by an alarm. */
export const cachingAgentLagMetric = { ...ours, metricName: 'AgentLag' } as const;

/** Objects and applications of an account that are too large to be cached; written for caching agents that have some. */
export const tooLargeMetric = { ...ours, metricName: 'TooLarge' } as const;

/** 1 while the settings that were last read are unusable, else 0; written by the scheduler of caching agents, once a run. */
export const settingsUnusableMetric = { ...ours, metricName: 'SettingsUnusable' } as const;

/** Accounts whose cache is older than it should be, and their share by `toAlarmShare`; written like `SettingsUnusable`. */
export const staleAccountsMetrics = {
  count: { ...ours, metricName: 'StaleAccounts' },
  share: { ...ours, metricName: 'StaleAccountShare' },
} as const;

/** Accounts that are left out since their settings are wrong, and their share; written like `SettingsUnusable`. */
export const rejectedAccountsMetrics = {
  count: { ...ours, metricName: 'RejectedAccounts' },
  share: { ...ours, metricName: 'RejectedAccountShare' },
} as const;

/** Requests for operations that `busdriver.checkApplication: enforce` would have refused; written by the function that accepted them. */
export const reportedRefusalsMetric = { ...ours, metricName: 'ReportedRefusals' } as const;

/** Dead letters by reason; written by the function that receives them. */
export const deadLettersMetric = { ...ours, metricName: 'DeadLetters', reasonDimension: 'Reason' } as const;

/**
 * Why a message became a dead letter, as far as the store shows it:
 *
 * - `unbegun`: its work waits, and no worker took it: the store or a key was unavailable, or Lambda refused to start workers.
 * - `unended`: workers took it and did not finish: they died, or lost the store.
 * - `settled`: its work is done, or under way: nothing was lost.
 */
export const deadLetterReasons = ['unbegun', 'unended', 'settled'] as const;

/** One of them. */
export type DeadLetterReason = (typeof deadLetterReasons)[number];

/** The share of accounts with trouble, in percent, for alarms; 0 for one of several: that is its owner's, and should wake nobody else. */
export function toAlarmShare(affected: number, all: number): number {
  if (affected === 0 || (affected === 1 && all > 1)) return 0;
  return (100 * affected) / Math.max(affected, all);
}

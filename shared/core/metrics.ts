/** Where metrics of ours are in CloudWatch. */
const ours = {
  namespace: 'Busdriver',
  /** Its value is the name of the function that tells, which tells installations apart. */
  dimension: 'FunctionName',
} as const;

/** Seconds by which an agent ran later than it was due: what its worker puts there, and an alarm watches. */
export const cachingAgentLagMetric = { ...ours, metricName: 'AgentLag' } as const;

/** Objects and applications of an account that are too large to be cached; told by agents that have such. */
export const tooLargeMetric = { ...ours, metricName: 'TooLarge' } as const;

/** 1 while the settings, as they were read last, cannot be used, else 0; told by the scheduler of agents, once a run. */
export const settingsUnusableMetric = { ...ours, metricName: 'SettingsUnusable' } as const;

/** Accounts whose cache is older than it should be, and their share as `toAlarmShare` has it; told as `SettingsUnusable` is. */
export const staleAccountsMetrics = {
  count: { ...ours, metricName: 'StaleAccounts' },
  share: { ...ours, metricName: 'StaleAccountShare' },
} as const;

/** Accounts that are left out since their settings are wrong, and their share; told as `SettingsUnusable` is. */
export const rejectedAccountsMetrics = {
  count: { ...ours, metricName: 'RejectedAccounts' },
  share: { ...ours, metricName: 'RejectedAccountShare' },
} as const;

/** Dead letters by why they are; told by the function that receives them. */
export const deadLettersMetric = { ...ours, metricName: 'DeadLetters', reasonDimension: 'Reason' } as const;

/**
 * Why a message became a dead letter, as far as the store shows it:
 *
 * - `unbegun`: what it asked for waits, and no worker took it: the store or a key was away, or Lambda refused to start workers.
 * - `unended`: workers took it and came to no end: they died, or lost the store.
 * - `settled`: it is done, or somebody is at it: nothing was lost.
 */
export const deadLetterReasons = ['unbegun', 'unended', 'settled'] as const;

/** One of them. */
export type DeadLetterReason = (typeof deadLetterReasons)[number];

/**
 * What share of its accounts has trouble, in percent, for alarms: 0 while it is one alone of several, whose owner is to see to it
 * and nobody else is to be woken.
 */
export function toAlarmShare(affected: number, all: number): number {
  if (affected === 0 || (affected === 1 && all > 1)) return 0;
  return (100 * affected) / Math.max(affected, all);
}

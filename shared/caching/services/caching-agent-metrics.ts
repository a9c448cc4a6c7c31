import {
  cachingAgentLagMetric,
  rejectedAccountsMetrics,
  settingsUnusableMetric,
  staleAccountsMetrics,
  toAlarmShare,
  tooLargeMetric,
} from '#core/metrics.ts';
import { createMetricWriter, type MetricWriterOptions } from '#platform/services/metric-writer.ts';
import type { RunReporter } from '../scheduling/report-runs.ts';
import type { ScheduleSystem } from '../scheduling/schedule-turns.ts';

/** Values of a metric in one line: CloudWatch's limit. */
const valuesMax = 100;

/** Records metrics of caching agents and their scheduler in CloudWatch. */
export interface CachingAgentMetrics
  extends Pick<RunReporter, 'recordLags' | 'recordTooLarge'>,
    Pick<ScheduleSystem, 'recordStaleAccounts'> {
  /** Takes whether the settings that were read last are in force. */
  recordSettings(areUsable: boolean): void;
  /** Takes how many accounts of the settings are rejected, and how many there are. */
  recordRejectedAccounts(count: { readonly rejected: number; readonly all: number }): void;
}

/** Writes metrics of caching agents to CloudWatch; does nothing outside Lambda. */
export function createCachingAgentMetrics(options: MetricWriterOptions): CachingAgentMetrics {
  const write = createMetricWriter(options);
  const record = (metric: { readonly metricName: string }, unit: 'Seconds' | 'Count', values: number[]) => {
    for (let start = 0; start < values.length; start += valuesMax)
      write([{ ...metric, unit, value: values.slice(start, start + valuesMax) }]);
  };
  const recordShare = (
    { count, share }: typeof staleAccountsMetrics | typeof rejectedAccountsMetrics,
    affected: number,
    all: number,
  ) =>
    write([
      { ...count, unit: 'Count', value: affected },
      { ...share, unit: 'Percent', value: toAlarmShare(affected, all) },
    ]);
  return {
    recordLags: (lagsMs) =>
      record(
        cachingAgentLagMetric,
        'Seconds',
        lagsMs.map((lagMs) => lagMs / 1000),
      ),
    recordTooLarge: (counts) => record(tooLargeMetric, 'Count', [...counts]),
    recordStaleAccounts: ({ all, stale }) => recordShare(staleAccountsMetrics, stale.length, all),
    recordRejectedAccounts: ({ rejected, all }) => recordShare(rejectedAccountsMetrics, rejected, all),
    recordSettings: (areUsable) =>
      write([{ ...settingsUnusableMetric, unit: 'Count', value: areUsable ? 0 : 1 }]),
  };
}

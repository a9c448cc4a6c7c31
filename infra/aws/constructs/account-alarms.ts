import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { rejectedAccountsMetrics, settingsUnusableMetric, staleAccountsMetrics } from '#core/metrics.ts';
import type { Context } from '../context/context.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';

/** Percent of the accounts with trouble, from which on an alarm rings: `toAlarmShare` counts one alone as none. */
const accountShareMax = 10;

/** Whose metrics to watch. */
export interface AccountAlarmsProps {
  readonly context: Context;
  /** Name of the function that writes the metrics, once a run. */
  readonly functionName: string;
}

/** Adds the alarms about settings and accounts. All look at the best run of five minutes: one bad moment rings none. */
export function addAccountAlarms(scope: Construct, { context, functionName }: AccountAlarmsProps): void {
  const metric = ({ namespace, metricName, dimension }: typeof settingsUnusableMetric | ShareMetric) =>
    new Metric({
      ...{ namespace, metricName, period: alarmPeriod, statistic: Stats.MINIMUM },
      dimensionsMap: { [dimension]: functionName },
    });
  new ServiceAlarm(scope, 'SettingsUnusable', {
    context,
    name: 'settings-unusable',
    description: 'The settings cannot be read or used: the former ones stay in force, or all is refused.',
    metric: metric(settingsUnusableMetric),
    threshold: 1,
  });
  new ServiceAlarm(scope, 'StaleAccounts', {
    context,
    name: 'accounts-stale',
    description: `What is cached of ${accountShareMax} % of the accounts is too old: their clusters or the agents are in trouble.`,
    metric: metric(staleAccountsMetrics.share),
    threshold: accountShareMax,
    periods: 2,
  });
  new ServiceAlarm(scope, 'RejectedAccounts', {
    context,
    name: 'accounts-rejected',
    description: `${accountShareMax} % of the accounts are left out: their settings are wrong, and Spinnaker does not see them.`,
    metric: metric(rejectedAccountsMetrics.share),
    threshold: accountShareMax,
  });
}

type ShareMetric = (typeof staleAccountsMetrics | typeof rejectedAccountsMetrics)['share'];

import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { schedules } from '../../../functions/schedules.ts';
import { countTemplates, type TemplateCounts } from '../../../infra/cost/template-counts.ts';
import { tables } from '../../../shared/aws/tables.ts';
import { agentLagMetric } from '../../../shared/core/metrics.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { synthesize } from '../stacks/synthesize.ts';

describe('what the templates have', () => {
  let counts: TemplateCounts;
  let templates: ReadonlyMap<string, Template>;
  const find = (type: string) =>
    [...templates.values()].flatMap((template) => Object.values(template.findResources(type)));

  beforeAll(() => {
    counts = countTemplates();
    templates = synthesize(getOptions('private, endpoint made'));
  }, 120_000);

  it('is counted', () => {
    expect(counts).toMatchObject({
      alarms: find('AWS::CloudWatch::Alarm').length,
      logGroups: find('AWS::Logs::LogGroup').length,
      functions: find('AWS::Lambda::Function').length,
      eventRules: find('AWS::Events::Rule').length,
      dashboards: 1,
      keys: 1,
      secrets: 3,
      endpoints: 1,
      tables: tables.length,
      schedules: schedules.length,
      polledQueues: 2 * queues.length,
    });
  });

  it('has a metric for each alarm, and custom metrics that alarms watch or the dashboard alone shows', () => {
    const alarms = find('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
    expect(counts.alarmMetrics).toBeGreaterThanOrEqual(alarms.length);
    const watched = alarms
      .filter(({ Namespace }) => Namespace === agentLagMetric.namespace)
      .map(({ MetricName, Dimensions }) => JSON.stringify([MetricName, Dimensions]));
    expect(new Set(watched).size).toBeGreaterThan(5);
    expect(counts.customMetrics).toBeGreaterThan(new Set(watched).size);
  });
});

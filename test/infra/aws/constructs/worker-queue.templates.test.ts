import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Queue, queues } from '#functions/queues.ts';
import { readContext } from '#infra/aws/context/context-options.ts';
import { WorkerStack } from '#infra/aws/stacks/worker-stack.ts';
import { privateOptions, withOutdir } from '../stacks/synthesize.ts';

const operations = queues.find(({ name }) => name === 'operations');

function synthesize(rows: readonly Queue[]): Template {
  return withOutdir((outdir) => {
    const context = { ...privateOptions, 'aws:cdk:bundling-stacks': [] };
    const app = new App({ outdir, context, builtinCloudFormationValidation: false });
    const props = { description: 'workers', queues: rows, schedules: [], context: readContext(app) };
    return Template.fromStack(new WorkerStack(app, 'workers', props));
  });
}

describe('a worker queue', () => {
  it('whose times are in disorder is not synthesized', () => {
    const rows = [{ ...(operations as Queue), visibilityTimeoutSeconds: 30 }];
    expect(() => synthesize(rows)).toThrow(/queue operations: timeoutSeconds \(900\) must be less than/);
  });

  it('is known to every function', () => {
    const template = synthesize([operations as Queue]);
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    const known = functions.map(
      ({ Properties }) => Properties.Environment.Variables.BUSDRIVER_AGENTS_QUEUE_URL,
    );
    expect(known.length).toBeGreaterThan(1);
    for (const url of known) expect(JSON.stringify(url)).toContain('/busdriver-dev-agents"');
  });

  it('of agents rings when they fall behind, and no other does', () => {
    const agents: Queue = {
      ...(operations as Queue),
      name: 'agents',
      stack: 'caching',
      watchedMetrics: ['AgentLag'],
      module: 'workers/sweep-tasks',
      deadLetterModule: 'api/health/get-health',
    };
    const template = synthesize([operations as Queue, agents]);

    const alarms = Object.values(
      template.findResources('AWS::CloudWatch::Alarm', { Properties: { MetricName: 'AgentLag' } }),
    );
    expect(alarms.map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        AlarmName: 'busdriver-dev-agents-agent-lag',
        Namespace: 'Busdriver',
        Dimensions: [{ Name: 'FunctionName', Value: 'busdriver-dev-sweep-tasks' }],
        ExtendedStatistic: 'p99',
        Threshold: 300,
        EvaluationPeriods: 3,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      }),
    ]);
  });
});

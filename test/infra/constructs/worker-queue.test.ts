import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { type Queue, queues } from '../../../functions/queues.ts';
import { nameQueue, type Surroundings } from '../../../infra/constructs/surroundings.ts';
import { readContext } from '../../../infra/context-options.ts';
import { WorkerStack } from '../../../infra/stacks/worker-stack.ts';
import { privateOptions, withOutdir } from '../stacks/synthesize.ts';

const operations = queues.find(({ name }) => name === 'operations');

function makeSurroundings(app: App): Surroundings {
  const stack = new Stack(app, 'shared');
  const arn = (service: string, name: string): string => `arn:aws:${service}:us-east-1:123456789012:${name}`;
  return {
    context: readContext(app),
    network: undefined,
    tables: new Map(['tasks', 'cache'].map((name) => [name, Table.fromTableName(stack, name, name)])),
    key: Key.fromKeyArn(stack, 'key', arn('kms', 'key/0123')),
    artifactsSecretArn: arn('secretsmanager', 'secret:artifacts-AbCdEf'),
    configSecretArn: arn('secretsmanager', 'secret:spinnaker-AbCdEf'),
    bus: EventBus.fromEventBusName(stack, 'bus', 'bus'),
    queues: new Map(queues.map(({ name }) => [name, nameQueue(name)])),
  };
}

function synthesize(rows: readonly Queue[]): Template {
  return withOutdir((outdir) => {
    const app = new App({ outdir, context: { ...privateOptions, 'aws:cdk:bundling-stacks': [] } });
    const props = {
      description: 'workers',
      queues: rows,
      schedules: [],
      surroundings: makeSurroundings(app),
    };
    return Template.fromStack(new WorkerStack(app, 'workers', props));
  });
}

describe('a worker queue', () => {
  it('whose times are in disorder is not synthesized', () => {
    const rows = [{ ...(operations as Queue), visibilityTimeoutSeconds: 30 }];

    expect(() => synthesize(rows)).toThrow(/queue operations: timeoutSeconds \(900\) must be less than/);
  });

  it('is known to the functions of queues that follow it', () => {
    const agents: Queue = {
      ...(operations as Queue),
      name: 'caching-agents',
      module: 'workers/sweep-tasks',
      deadLetterModule: 'api/health/get-health',
    };
    const template = synthesize([operations as Queue, agents]);
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    const variables = functions.map(({ Properties }) => Object.keys(Properties.Environment.Variables));

    const knowing = variables.filter((names) => names.includes('BUSDRIVER_CACHING_AGENTS_QUEUE_URL'));
    expect(knowing).toHaveLength(2);
    expect(variables.every((names) => names.includes('BUSDRIVER_OPERATIONS_QUEUE_URL'))).toBe(true);
  });

  it('of agents rings when they fall behind, and no other does', () => {
    const agents: Queue = {
      ...(operations as Queue),
      name: 'agents',
      stack: 'caching',
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

import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getPath } from '#core/json.ts';
import { type Queue, queues } from '#functions/queues.ts';
import { type Schedule, schedules } from '#functions/schedules.ts';
import { readConfig } from '#platform/config.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { getResources } from './policies.ts';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

const set = 'private, endpoint of the operator: all that the operator may name';
const { alarmTopicArn } = getOptions(set);
/** What operators say of workers: who is called, and how much runs at once. */
const said = synthesize(getOptions(set));
const templates = synthesize();
const template = getTemplate(templates, 'operations');
const caching = getTemplate(templates, 'caching');
const stacks = { operations: template, caching };

function getStack({ stack = 'operations' }: Pick<Queue | Schedule, 'stack'>): Template {
  return stacks[stack];
}

function getFunction(name: string, stacks = [template, caching]): { readonly [property: string]: unknown } {
  const found = stacks
    .flatMap((one) => [...getResources(one).values()])
    .find(({ Properties }) => Properties['FunctionName'] === `busdriver-dev-${name}`);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found.Properties;
}

describe('a queue', () => {
  it.each(queues)('$name hides, keeps and gives up messages as its row says', (row) => {
    getStack(row).hasResourceProperties('AWS::SQS::Queue', {
      QueueName: `busdriver-dev-${row.name}`,
      FifoQueue: Match.absent(),
      VisibilityTimeout: row.visibilityTimeoutSeconds,
      MessageRetentionPeriod: row.retentionSeconds,
      RedrivePolicy: { deadLetterTargetArn: Match.anyValue(), maxReceiveCount: row.receivesMax },
      SqsManagedSseEnabled: true,
    });
    getStack(row).hasResourceProperties('AWS::SQS::Queue', {
      QueueName: `busdriver-dev-${row.name}-dead-letters`,
      MessageRetentionPeriod: 14 * 24 * 3600,
      SqsManagedSseEnabled: true,
    });
  });

  it.each(['operations', 'caching'] as const)(
    'of %s hides a message longer than its function runs, and keeps it longer, among dead letters longest',
    (name) => {
      const resources = getResources(stacks[name]);
      const getProperties = (value: unknown): { readonly [name: string]: unknown } => {
        const [, id = ''] = /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value)) ?? [];
        return resources.get(id)?.Properties ?? {};
      };
      const mappings = [...resources.values()].filter(
        ({ Type }) => Type === 'AWS::Lambda::EventSourceMapping',
      );
      expect(mappings).toHaveLength(2 * queues.filter((row) => getStack(row) === stacks[name]).length);
      for (const { Properties } of mappings) {
        const queue = getProperties(Properties['EventSourceArn']);
        const timeout = Number(getProperties(Properties['FunctionName'])['Timeout']);
        const visibility = Number(queue['VisibilityTimeout']);
        const retention = Number(queue['MessageRetentionPeriod']);
        const deadLetters = getPath(queue, 'RedrivePolicy', 'deadLetterTargetArn');
        const kept = deadLetters ? Number(getProperties(deadLetters)['MessageRetentionPeriod']) : Infinity;
        const times = [timeout, visibility, retention, kept];
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        expect(new Set(times).size).toBe(4);
      }
    },
  );

  it.each(queues)('$name takes nothing over plain HTTP', (row) => {
    const rows = queues.filter((one) => getStack(one) === getStack(row));
    getStack(row).resourceCountIs('AWS::SQS::QueuePolicy', 2 * rows.length);
    getStack(row).allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ],
      }),
    });
  });

  it('feeds its worker, message by message and no faster than the operator says', () => {
    const stack = getTemplate(said, 'operations');
    stack.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 60 },
    });
    expect(getFunction('run-operations', [stack])).toMatchObject({
      ...{ ReservedConcurrentExecutions: 60, Timeout: 900 },
    });
  });

  it.each(queues)('$name feeds its dead letters to a function of their own', (row) => {
    const rows = queues.filter((one) => getStack(one) === getStack(row));
    getStack(row).resourceCountIs('AWS::Lambda::EventSourceMapping', 2 * rows.length);
    getStack(row).allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(getFunction('settle-dead-letters')).toMatchObject({ Timeout: 60 });
    expect(getFunction('drop-agent-messages')).toMatchObject({ Timeout: 60 });
  });

  it('of agents takes no share of the concurrency that operations have', () => {
    caching.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 40 },
    });
    expect(getFunction('run-caching-agents')).not.toHaveProperty('ReservedConcurrentExecutions');
  });
});

describe('a function', () => {
  it('is what every function of ours is', () => {
    const functions = [...templates.values()].flatMap((one) => [...getResources(one).values()]);
    const made = functions.filter(({ Type }) => Type === 'AWS::Lambda::Function');
    expect(made.length).toBeGreaterThan(25);
    for (const { Properties } of made) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO' },
      });
    }
  });

  it('finds what it shares with others in its variables', () => {
    const { Variables } = getFunction('run-operations')['Environment'] as {
      Variables: { readonly [name: string]: unknown };
    };
    const texts = Object.entries(Variables).map(([name, value]) => [name, JSON.stringify(value)]);

    const config = readConfig(
      Object.fromEntries(texts.map(([name, text]) => [name, text?.replace(/^"(.*)"$/, '$1')])),
    );

    expect(config).toMatchObject({
      placement: 'deployed',
      profiles: ['local'],
      logLevel: 'INFO',
      authorizerSecretArn: undefined,
    });
    expect(config.tasksTable).toBe('busdriver-dev-tasks');
    expect(config.operationsQueueUrl).toContain('/busdriver-dev-operations');
    expect(config.agentsQueueUrl).toContain('/busdriver-dev-agents');
    expect(config.agentStreamsQueueUrl).toContain('/busdriver-dev-agent-streams');
    expect(config.busName).toBe('busdriver-dev');
    expect(config.configSecretArn).toContain('configsecretarn');
  });

  it('that goes on in messages to itself is not taken for one that runs away', () => {
    expect(getFunction('run-operations')).toMatchObject({ RecursiveLoop: 'Allow' });
    expect(getFunction('run-caching-agents')).toMatchObject({ RecursiveLoop: 'Allow' });
    expect(getFunction('run-agent-streams')).toMatchObject({ RecursiveLoop: 'Allow', Timeout: 900 });
    expect(getFunction('settle-dead-letters')).not.toHaveProperty('RecursiveLoop');
  });

  it('runs in the VPC when it reaches clusters, and only then', () => {
    expect(getFunction('run-operations')).toMatchObject({
      VpcConfig: {
        SubnetIds: String(privateOptions['subnetIds']).split(','),
        SecurityGroupIds: [expect.anything()],
      },
    });
    expect(getFunction('sweep-tasks')).not.toHaveProperty('VpcConfig');
  });
});

describe('a schedule', () => {
  it.each(schedules)('$name starts its function', (row) => {
    const { name, rateMinutes } = row;
    getStack(row).hasResourceProperties('AWS::Events::Rule', {
      Name: `busdriver-dev-${name}`,
      ScheduleExpression: `rate(${rateMinutes} minute${rateMinutes > 1 ? 's' : ''})`,
      State: 'ENABLED',
    });
  });
});

describe('alarms', () => {
  const names = {
    operations: [
      ...['operations-queue-age', 'operations-dead-letters-unbegun', 'operations-dead-letters-unended'],
      ...['operations-dead-letters-age', 'run-operations-errors', 'run-operations-throttles'],
      ...['settle-dead-letters-errors', 'settle-dead-letters-throttles', 'sweep-tasks-errors'],
      ...['sweep-tasks-throttles', 'sweep-tasks-silent'],
    ],
    caching: [
      ...['agents-agent-lag', 'agents-queue-age', 'agents-dead-letters-unbegun'],
      ...['agents-dead-letters-unended', 'agents-dead-letters-age', 'run-caching-agents-errors'],
      ...['run-caching-agents-throttles', 'drop-agent-messages-errors', 'drop-agent-messages-throttles'],
      ...['agent-streams-agent-lag', 'agent-streams-queue-age', 'agent-streams-dead-letters-unbegun'],
      ...['agent-streams-dead-letters-unended', 'agent-streams-dead-letters-age', 'run-agent-streams-errors'],
      ...['run-agent-streams-throttles', 'drop-stream-messages-errors', 'drop-stream-messages-throttles'],
      ...['schedule-agents-errors', 'schedule-agents-throttles', 'schedule-agents-silent'],
      ...['settings-unusable', 'accounts-stale', 'accounts-rejected'],
    ],
  } as const;
  const all = Object.entries(names).flatMap(([stack, own]) => own.map((name) => ({ stack, name })));

  it.each(all)('$name calls the operator, and says when it is over', ({ stack, name }) => {
    getTemplate(said, stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `busdriver-dev-${name}`,
      AlarmDescription: Match.stringLikeRegexp('.{40,}'),
      AlarmActions: [alarmTopicArn],
      OKActions: [alarmTopicArn],
      TreatMissingData: name.endsWith('-silent') ? 'breaching' : 'notBreaching',
    });
  });

  it('are these', () => {
    template.resourceCountIs('AWS::CloudWatch::Alarm', names.operations.length);
    caching.resourceCountIs('AWS::CloudWatch::Alarm', names.caching.length);
  });

  it('ring for the age of a message only when it is older than a worker may run', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateAgeOfOldestMessage',
      Statistic: 'Maximum',
      Threshold: 1200,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    });
  });

  it.each([
    ['operations', 'settle-dead-letters', 1],
    ['agents', 'drop-agent-messages', 3],
    ['agent-streams', 'drop-stream-messages', 3],
  ])('ring for dead letters of %s that were not settled', (queue, receiver, threshold) => {
    const own = [template, caching].flatMap((one) => [...getResources(one).values()]);
    const named = own.filter(({ Properties }) =>
      String(Properties['AlarmName']).startsWith(`busdriver-dev-${queue}-dead-letters-un`),
    );
    expect(named.map(({ Properties }) => Properties)).toMatchObject(
      ['unbegun', 'unended'].map((reason) => ({
        MetricName: 'DeadLetters',
        Dimensions: [
          { Name: 'FunctionName', Value: `busdriver-dev-${receiver}` },
          { Name: 'Reason', Value: reason },
        ],
        Statistic: 'Sum',
        Threshold: threshold,
      })),
    );
  });

  it('ring for accounts only in the best moment of five minutes, and from a tenth of them on', () => {
    for (const [name, threshold] of [
      ['settings-unusable', 1],
      ['accounts-stale', 10],
      ['accounts-rejected', 10],
    ] as const) {
      caching.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `busdriver-dev-${name}`,
        Dimensions: [{ Name: 'FunctionName', Value: 'busdriver-dev-schedule-agents' }],
        Statistic: 'Minimum',
        Threshold: threshold,
      });
    }
  });
});

import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { schedules } from '../../../functions/schedules.ts';
import { getPath } from '../../../shared/core/json.ts';
import { readConfig } from '../../../shared/runtime/config.ts';
import { getResources } from './policies.ts';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

const alarmTopicArn = 'arn:aws:sns:us-east-1:123456789012:pager';
const templates = synthesize({ ...privateOptions, alarmTopicArn, concurrency: 'operations=7' });
const template = getTemplate(templates, 'operations');

function getFunction(name: string): { readonly [property: string]: unknown } {
  const found = [...getResources(template).values()].find(
    ({ Properties }) => Properties['FunctionName'] === `busdriver-dev-${name}`,
  );
  if (found === undefined) throw new Error(`no function ${name}`);
  return found.Properties;
}

describe('a queue', () => {
  it.each(queues)('$name hides, keeps and gives up messages as its row says', (row) => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: `busdriver-dev-${row.name}`,
      FifoQueue: Match.absent(),
      VisibilityTimeout: row.visibilityTimeoutSeconds,
      MessageRetentionPeriod: row.retentionSeconds,
      RedrivePolicy: { deadLetterTargetArn: Match.anyValue(), maxReceiveCount: row.receivesMax },
      SqsManagedSseEnabled: true,
    });
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: `busdriver-dev-${row.name}-dead-letters`,
      MessageRetentionPeriod: 14 * 24 * 3600,
      SqsManagedSseEnabled: true,
    });
  });

  it('hides a message longer than its function runs, and keeps it longer, among dead letters longest', () => {
    const resources = getResources(template);
    const getProperties = (value: unknown): { readonly [name: string]: unknown } => {
      const [, id = ''] = /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value)) ?? [];
      return resources.get(id)?.Properties ?? {};
    };
    const mappings = [...resources.values()].filter(({ Type }) => Type === 'AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(2 * queues.length);
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
  });

  it('takes nothing over plain HTTP', () => {
    template.resourceCountIs('AWS::SQS::QueuePolicy', 2 * queues.length);
    template.allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ],
      }),
    });
  });

  it('feeds its worker, message by message and no faster than the operator says', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 7 },
    });
    expect(getFunction('run-operations')).toMatchObject({ ReservedConcurrentExecutions: 7, Timeout: 900 });
  });

  it('feeds its dead letters to a function of their own', () => {
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', 2 * queues.length);
    template.allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(getFunction('settle-dead-letters')).toMatchObject({ Timeout: 60 });
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
    expect(config.tasksTable).toContain('busdriver-dev-data:');
    expect(config.operationsQueueUrl).toContain('operationsqueueQueue');
    expect(config.busName).toContain('busdriver-dev-bus:');
    expect(config.configSecretArn).toContain('Config');
  });

  it('that goes on in messages to itself is not taken for one that runs away', () => {
    expect(getFunction('run-operations')).toMatchObject({ RecursiveLoop: 'Allow' });
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
  it.each(schedules)(
    '$name starts its function, which is not started again for a failure',
    ({ name, rateMinutes }) => {
      template.hasResourceProperties('AWS::Events::Rule', {
        Name: `busdriver-dev-${name}`,
        ScheduleExpression: `rate(${rateMinutes} minute${rateMinutes > 1 ? 's' : ''})`,
        State: 'ENABLED',
        Targets: [
          Match.objectLike({
            RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: rateMinutes * 60 },
          }),
        ],
      });
    },
  );
});

describe('alarms', () => {
  const names = [
    'operations-queue-age',
    'operations-dead-letters',
    'run-operations-errors',
    'run-operations-throttles',
    'settle-dead-letters-errors',
    'settle-dead-letters-throttles',
    'sweep-tasks-errors',
    'sweep-tasks-throttles',
  ];

  it.each(names)('%s calls the operator, and says when it is over', (name) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `busdriver-dev-${name}`,
      AlarmDescription: Match.stringLikeRegexp('.{40,}'),
      AlarmActions: [alarmTopicArn],
      OKActions: [alarmTopicArn],
      TreatMissingData: 'notBreaching',
    });
  });

  it('are these', () => {
    template.resourceCountIs('AWS::CloudWatch::Alarm', names.length);
  });

  it('ring for the age of a message only when it is older than a worker may run', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateAgeOfOldestMessage',
      Statistic: 'Maximum',
      Threshold: 1200,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    });
  });

  it('ring for the first dead letter', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'busdriver-dev-operations-dead-letters',
      MetricName: 'Invocations',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: Match.stringLikeRegexp('SettleDeadLetters') } }],
      Threshold: 1,
    });
  });
});

import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { cachingAgentLagMetric, type DeadLetterReason, deadLettersMetric } from '#core/metrics.ts';
import type { Queue as QueueRow } from '#functions/queues.ts';
import { awsResources } from '#providers/declarations.ts';
import { toResourceName } from '../context/context.ts';
import { listNamed } from '../context/grant-sizes.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';
import { ServiceFunction } from './service-function.ts';
import type { SharedResources } from './shared-resources.ts';
import { findQueueProblems } from './time-limits.ts';

/** What a queue is made of. */
export interface WorkerQueueProps {
  readonly row: QueueRow;
  /** What its functions share with others; this queue joins it. */
  readonly sharedResources: SharedResources;
}

/** SQS keeps no message longer. */
const deadLetterRetention = Duration.days(14);

/** What the receiver of dead letters has to do takes a few calls of DynamoDB. */
const deadLetterTimeoutSeconds = 60;

/** Lambda polls a queue with no fewer invocations at once. */
const deadLetterConcurrency = 2;

/** A message that is this much older than a function may run has not been taken, seconds. */
const latenessMax = 300;

/** A dead letter that is this old is not being received, seconds. */
const deadLetterAgeMax = 3_600;

/** Reasons for which an alarm rings, with its text. */
const deadLetterAlarms: { readonly [reason in Exclude<DeadLetterReason, 'settled'>]: string } = {
  unbegun: 'no worker could take them, so that what they ask for waits',
  unended: 'workers took them and died of it, or could not go on',
};

/** How late agents may run, seconds. */
const agentLagMax = 300;

/** The alarms about metrics that workers write, by the names that rows of queues have for these. */
const metricAlarms = {
  // The worker itself reports how late each caching agent ran: the age of messages, which are sent ahead of time, does not.
  AgentLag: {
    metric: cachingAgentLagMetric,
    suffix: 'agent-lag',
    describe: (queue: string) =>
      `Agents of the queue ${queue} run late: what Spinnaker is shown of clusters is older than it should be.`,
    statistic: Stats.percentile(99),
    threshold: agentLagMax,
    periods: 3,
  },
};

/** A queue with its worker, its dead letters with theirs, and the alarms about both. */
export class WorkerQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly worker: ServiceFunction;
  readonly deadLetterWorker: ServiceFunction;
  readonly #sharedResources: SharedResources;

  constructor(scope: Construct, id: string, { row, sharedResources }: WorkerQueueProps) {
    super(scope, id);
    const { context } = sharedResources;
    this.deadLetterQueue = makeQueue(this, 'DeadLetterQueue', {
      queueName: toResourceName(context, `${row.name}-dead-letters`),
      // AWS advises six times the function's, so that throttled batches are not handed out twice.
      visibilityTimeout: Duration.seconds(6 * deadLetterTimeoutSeconds),
      retentionPeriod: deadLetterRetention,
    });
    this.queue = makeQueue(this, 'Queue', {
      queueName: toResourceName(context, row.name),
      visibilityTimeout: Duration.seconds(row.visibilityTimeoutSeconds),
      retentionPeriod: Duration.seconds(row.retentionSeconds),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: row.receivesMax },
    });
    this.#sharedResources = sharedResources;
    this.worker = this.#addWorker(row);
    this.deadLetterWorker = this.#addDeadLetterWorker(row);
    this.#addAlarms(row);
    this.#addRules(row);
    this.node.addValidation({ validate: () => findQueueProblems(row, deadLetterRetention.toSeconds()) });
  }

  #addWorker(row: QueueRow): ServiceFunction {
    const sharedResources = this.#sharedResources;
    const concurrency = sharedResources.context.concurrency.get(row.name) ?? row.concurrency;
    const worker = new ServiceFunction(this, {
      row,
      sharedResources,
      ...(row.isReserved && { reservedConcurrency: concurrency }),
      sendsToItself: sendsToItself(row),
    });
    const { batchSize } = row;
    worker.function.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize,
        maxConcurrency: concurrency,
        reportBatchItemFailures: true,
      }),
    );
    return worker;
  }

  #addDeadLetterWorker({ deadLetterModule, deadLetterUses }: QueueRow): ServiceFunction {
    const row = {
      module: deadLetterModule,
      uses: deadLetterUses,
      timeoutSeconds: deadLetterTimeoutSeconds,
    };
    const worker = new ServiceFunction(this, { row, sharedResources: this.#sharedResources });
    worker.function.addEventSource(
      new SqsEventSource(this.deadLetterQueue, {
        maxConcurrency: deadLetterConcurrency,
        reportBatchItemFailures: true,
      }),
    );
    return worker;
  }

  #addAlarms({ name, timeoutSeconds, watchedMetrics = [], deadLettersMax = 1 }: QueueRow): void {
    const { context } = this.#sharedResources;
    for (const metric of watchedMetrics) this.#addMetricAlarm(name, metricAlarms[metric]);
    new ServiceAlarm(this, 'QueueAge', {
      context,
      name: `${name}-queue-age`,
      description: `Messages of the queue ${name} wait too long: its workers are too few, away, or stuck.`,
      metric: this.queue.metricApproximateAgeOfOldestMessage({ period: alarmPeriod }),
      threshold: timeoutSeconds + latenessMax,
    });
    this.#addDeadLetterAlarms(name, deadLettersMax);
    this.worker.addAlarms();
    this.deadLetterWorker.addAlarms();
  }

  /** Dead letters are received at once, so that their queue shows them seldom: their receiver reports them, with the reason. */
  #addDeadLetterAlarms(name: string, threshold: number): void {
    const { context } = this.#sharedResources;
    const { namespace, metricName, dimension, reasonDimension } = deadLettersMetric;
    for (const [reason, what] of Object.entries(deadLetterAlarms)) {
      new ServiceAlarm(this, `DeadLetters-${reason}`, {
        context,
        name: `${name}-dead-letters-${reason}`,
        description: `Messages of the queue ${name} became dead letters: ${what}.`,
        metric: new Metric({
          ...{ namespace, metricName, period: alarmPeriod, statistic: Stats.SUM },
          dimensionsMap: { [dimension]: this.deadLetterWorker.functionName, [reasonDimension]: reason },
        }),
        threshold,
      });
    }
    new ServiceAlarm(this, 'DeadLettersAge', {
      context,
      name: `${name}-dead-letters-age`,
      description: `Dead letters of the queue ${name} lie there: what receives them is stopped, or fails.`,
      metric: this.deadLetterQueue.metricApproximateAgeOfOldestMessage({ period: alarmPeriod }),
      threshold: deadLetterAgeMax,
    });
  }

  /** Events of AWS' services come from resources that the operator names: without any there are no rules. */
  #addRules({ name, awsEvents = [] }: QueueRow): void {
    const { context } = this.#sharedResources;
    for (const { source, detailType, detail } of awsEvents) {
      const service = source.replace('aws.', '');
      const resources = awsResources.filter((resource) => resource.service === service);
      const arns = resources.flatMap((each) => listNamed(each, context)).map((arn) => arn.split(':'));
      if (arns.length === 0) continue;
      const regions = new Set(arns.map(([, , , region = '']) => region));
      const accounts = new Set(arns.map(([, , , , account = '']) => account));
      new Rule(this, `Rule-${service}`, {
        ruleName: toResourceName(context, `${name}-${service}-events`),
        description: `Sends events '${detailType}' to the queue ${name}.`,
        eventPattern: {
          ...{ source: [source], detailType: [detailType] },
          ...{ account: [...accounts].sort(), region: [...regions].sort() },
          detail: Object.fromEntries(Object.entries(detail).map(([member, values]) => [member, [...values]])),
        },
        targets: [new SqsQueue(this.queue)],
      });
    }
  }

  #addMetricAlarm(name: string, alarm: (typeof metricAlarms)[keyof typeof metricAlarms]): void {
    const { metric, suffix, describe, statistic, threshold, periods } = alarm;
    const { namespace, metricName, dimension } = metric;
    new ServiceAlarm(this, metricName, {
      ...{ context: this.#sharedResources.context, threshold, periods },
      name: `${name}-${suffix}`,
      description: describe(name),
      metric: new Metric({
        ...{ namespace, metricName, period: alarmPeriod, statistic },
        dimensionsMap: { [dimension]: this.worker.functionName },
      }),
    });
  }
}

/** Whether its worker sends the messages with which the next one goes on, or an agent's next run begins. */
function sendsToItself({ uses = [] }: QueueRow): boolean {
  return (['sendOperations', 'sendAgents', 'sendStreams'] as const).some((use) => uses.includes(use));
}

/** Messages hold no more than a task's id or names of agents: SQS' own key does for them. */
function makeQueue(scope: Construct, id: string, props: QueueProps): Queue {
  return new Queue(scope, id, { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, ...props });
}

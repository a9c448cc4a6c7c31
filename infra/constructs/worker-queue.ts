import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Queue as QueueRow } from '../../functions/queues.ts';
import { agentLagMetric, type DeadLetterReason, deadLettersMetric } from '../../shared/core/metrics.ts';
import { toResourceName } from '../context.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';
import { ServiceFunction } from './service-function.ts';
import type { Surroundings } from './surroundings.ts';
import { findQueueProblems } from './time-limits.ts';

/** What a queue is made of. */
export interface WorkerQueueProps {
  readonly row: QueueRow;
  /** What its functions share with others; this queue joins it. */
  readonly surroundings: Surroundings;
}

/** SQS keeps no message longer. */
const deadLetterRetention = Duration.days(14);

/** What the receiver of dead letters has to do takes a few calls of DynamoDB. */
const deadLetterTimeoutSeconds = 60;

/** Lambda polls a queue with no fewer invocations at once. */
const deadLetterConcurrency = 2;

/** A hint that is this much older than a function may run has not been taken, seconds. */
const latenessMax = 300;

/** A dead letter that is this old is not being received, seconds. */
const deadLetterAgeMax = 3_600;

/** One account whose workers die leaves one or two letters in five minutes: nobody is called for it alone. */
const cachingDeadLettersMax = 3;

/** Reasons for which somebody is called, with what they say. */
const deadLetterAlarms: { readonly [reason in Exclude<DeadLetterReason, 'settled'>]: string } = {
  unbegun: 'no worker could take them, so that what they ask for waits',
  unended: 'workers took them and died of it, or could not go on',
};

/** A queue with its worker, its dead letters with theirs, and the alarms about both. */
export class WorkerQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly worker: ServiceFunction;
  readonly deadLetterWorker: ServiceFunction;
  readonly #surroundings: Surroundings;

  constructor(scope: Construct, id: string, { row, surroundings }: WorkerQueueProps) {
    super(scope, id);
    const { context } = surroundings;
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
    this.#surroundings = surroundings;
    this.worker = this.#addWorker(row);
    this.deadLetterWorker = this.#addDeadLetterWorker(row);
    this.#addAlarms(row);
    this.node.addValidation({ validate: () => findQueueProblems(row, deadLetterRetention.toSeconds()) });
  }

  #addWorker(row: QueueRow): ServiceFunction {
    const surroundings = this.#surroundings;
    const concurrency = surroundings.context.concurrency.get(row.name) ?? row.concurrency;
    const worker = new ServiceFunction(this, {
      row,
      surroundings,
      // What people wait for has its share of the account's concurrency; caching takes what there is.
      ...(row.stack !== 'caching' && { reservedConcurrency: concurrency }),
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
    const worker = new ServiceFunction(this, { row, surroundings: this.#surroundings });
    worker.function.addEventSource(
      new SqsEventSource(this.deadLetterQueue, {
        maxConcurrency: deadLetterConcurrency,
        reportBatchItemFailures: true,
      }),
    );
    return worker;
  }

  #addAlarms({ name, timeoutSeconds, stack }: QueueRow): void {
    const { context } = this.#surroundings;
    if (stack === 'caching') this.#addLagAlarm(name);
    new ServiceAlarm(this, 'QueueAge', {
      context,
      name: `${name}-queue-age`,
      description: `Messages of the queue ${name} wait too long: its workers are too few, away, or stuck.`,
      metric: this.queue.metricApproximateAgeOfOldestMessage({ period: alarmPeriod }),
      threshold: timeoutSeconds + latenessMax,
    });
    this.#addDeadLetterAlarms(name, stack === 'caching' ? cachingDeadLettersMax : 1);
    this.worker.addAlarms();
    this.deadLetterWorker.addAlarms();
  }

  /** Dead letters are received at once, so that their queue shows them seldom: who receives them tells, and why they are. */
  #addDeadLetterAlarms(name: string, threshold: number): void {
    const { context } = this.#surroundings;
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

  /** The worker itself tells how late each agent ran: the age of messages, which are sent ahead of time, does not. */
  #addLagAlarm(name: string): void {
    const { namespace, metricName, dimension } = agentLagMetric;
    new ServiceAlarm(this, 'AgentLag', {
      context: this.#surroundings.context,
      name: `${name}-agent-lag`,
      description: `Agents of the queue ${name} run late: what Spinnaker is shown of clusters is older than it should be.`,
      metric: new Metric({
        namespace,
        metricName,
        dimensionsMap: { [dimension]: this.worker.functionName },
        period: alarmPeriod,
        statistic: Stats.percentile(99),
      }),
      threshold: agentLagMax,
      periods: 3,
    });
  }
}

/** Whether its worker sends the messages with which the next one goes on, or an agent's next run begins. */
function sendsToItself({ uses = [] }: QueueRow): boolean {
  return (['sendOperations', 'sendAgents', 'sendStreams'] as const).some((use) => uses.includes(use));
}

/** How late agents may run, seconds. */
const agentLagMax = 300;

/** Messages hold no more than a task's id or names of agents: SQS' own key does for them. */
function makeQueue(scope: Construct, id: string, props: QueueProps): Queue {
  return new Queue(scope, id, { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, ...props });
}

import { Duration, Stack } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import {
  deadLetterReasons,
  deadLettersMetric,
  rejectedAccountsMetrics,
  settingsUnusableMetric,
  staleAccountsMetrics,
} from '#core/metrics.ts';
import { type Queue, queues } from '#functions/queues.ts';
import { schedules } from '#functions/schedules.ts';
import { tables } from '#platform/aws/tables.ts';
import { type Context, toResourceName } from '../context/context.ts';

/** One page with what goes on. It knows resources by their names, so that no other stack depends on it, nor it on them. */
export class DashboardStack extends Stack {
  readonly #context: Context;

  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id, { description: 'Busdriver: dashboard' });
    this.#context = context;
    new Dashboard(this, 'Dashboard', {
      dashboardName: `${context.namePrefix}-${context.stage}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        this.#describeApi(),
        ...queues.map((row) => this.#describeQueue(row)),
        this.#describeWorkers(),
        this.#describeAccounts(),
        this.#describeTables(),
      ],
    });
  }

  #describeApi(): GraphWidget[] {
    const metric = (metricName: string, statistic: string): IMetric =>
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName,
        statistic,
        dimensionsMap: { ApiName: this.#toName('api') },
      });
    return [
      toGraph('API: requests', [metric('Count', Stats.SUM)]),
      toGraph('API: failures', [metric('4XXError', Stats.SUM), metric('5XXError', Stats.SUM)]),
      toGraph('API: latency, ms', [metric('Latency', Stats.p(50)), metric('Latency', Stats.p(99))]),
    ];
  }

  #describeQueue({ name: row, deadLetterModule: receiver }: Queue): GraphWidget[] {
    const metric = (metricName: string): IMetric =>
      new Metric({
        namespace: 'AWS/SQS',
        metricName,
        statistic: Stats.MAXIMUM,
        dimensionsMap: { QueueName: this.#toName(row) },
      });
    return [
      toGraph(`Queue ${row}: messages`, [
        metric('ApproximateNumberOfMessagesVisible'),
        metric('ApproximateNumberOfMessagesNotVisible'),
      ]),
      toGraph(`Queue ${row}: age of the oldest, s`, [metric('ApproximateAgeOfOldestMessage')]),
      toGraph(`Queue ${row}: dead letters, by why they are`, this.#getDeadLetters(receiver)),
    ];
  }

  #getDeadLetters(receiver: string): IMetric[] {
    const { namespace, metricName, dimension, reasonDimension } = deadLettersMetric;
    const functionName = this.#toName(getFunctionName(receiver));
    return deadLetterReasons.map((reason) => {
      const dimensionsMap = { [dimension]: functionName, [reasonDimension]: reason };
      return new Metric({ namespace, metricName, statistic: Stats.SUM, label: reason, dimensionsMap });
    });
  }

  /** As the functions tell that are started for it, once a run. */
  #describeAccounts(): GraphWidget[] {
    const tellers = schedules.filter(({ tellsOfAccounts }) => tellsOfAccounts);
    const metrics = ({ namespace, metricName, dimension }: typeof settingsUnusableMetric | CountMetric) =>
      tellers.map(({ module }) => {
        const dimensionsMap = { [dimension]: this.#toName(getFunctionName(module)) };
        return new Metric({ namespace, metricName, statistic: Stats.MAXIMUM, dimensionsMap });
      });
    return [
      toGraph('Accounts: stale', metrics(staleAccountsMetrics.count)),
      toGraph('Accounts: left out', metrics(rejectedAccountsMetrics.count)),
      toGraph('Settings: cannot be used', metrics(settingsUnusableMetric)),
    ];
  }

  #describeWorkers(): GraphWidget[] {
    const modules = [
      ...queues.flatMap((row) => [row.module, row.deadLetterModule]),
      ...schedules.map((row) => row.module),
    ];
    const metrics = (metricName: string, statistic: string): IMetric[] =>
      modules.map((module) => {
        const name = getFunctionName(module);
        const dimensionsMap = { FunctionName: this.#toName(name) };
        return new Metric({ namespace: 'AWS/Lambda', metricName, statistic, label: name, dimensionsMap });
      });
    return [
      toGraph('Workers: invocations', metrics('Invocations', Stats.SUM)),
      toGraph('Workers: errors and throttles', [
        ...metrics('Errors', Stats.SUM),
        ...metrics('Throttles', Stats.SUM),
      ]),
      toGraph('Workers: duration, ms', metrics('Duration', Stats.p(99))),
    ];
  }

  #describeTables(): GraphWidget[] {
    const metrics = (metricName: string): IMetric[] =>
      tables.map(({ name }) => {
        const dimensionsMap = { TableName: this.#toName(name) };
        return new Metric({
          namespace: 'AWS/DynamoDB',
          metricName,
          statistic: Stats.SUM,
          label: name,
          dimensionsMap,
        });
      });
    return [
      toGraph('Tables: units read', metrics('ConsumedReadCapacityUnits')),
      toGraph('Tables: units written', metrics('ConsumedWriteCapacityUnits')),
      // ThrottledRequests exists by operation only.
      toGraph('Tables: refused for overload', [
        ...metrics('ReadThrottleEvents'),
        ...metrics('WriteThrottleEvents'),
      ]),
    ];
  }

  #toName(name: string): string {
    return toResourceName(this.#context, name);
  }
}

type CountMetric = (typeof staleAccountsMetrics | typeof rejectedAccountsMetrics)['count'];

/** `workers/sweep-tasks` becomes `sweep-tasks`. */
function getFunctionName(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}

/** A third of the page's width. */
function toGraph(title: string, metrics: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left: metrics, width: 8 });
}

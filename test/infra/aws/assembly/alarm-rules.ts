import type { Template } from 'aws-cdk-lib/assertions';
import {
  cachingAgentLagMetric,
  deadLettersMetric,
  rejectedAccountsMetrics,
  settingsUnusableMetric,
  staleAccountsMetrics,
} from '#core/metrics.ts';
import type { Assembly } from './assembly-rules.ts';

interface MetricReference {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string }[];
}

interface AlarmProperties extends MetricReference {
  readonly AlarmName: string;
  readonly TreatMissingData?: string;
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: MetricReference } }[];
}

interface RuleProperties {
  readonly ScheduleExpression?: string;
  readonly Targets?: readonly { readonly Arn: unknown }[];
}

interface InvokeLimits {
  readonly FunctionName: unknown;
  readonly MaximumRetryAttempts?: number;
  readonly MaximumEventAgeInSeconds?: number;
}

/**
 * The metrics that AWS' services write, by namespace, each with the sets of dimensions under which they can be found: "Viewing metrics"
 * in the guides of Lambda, SQS, DynamoDB and API Gateway. With other dimensions a graph stays empty, and an alarm silent.
 */
const metrics: { readonly [namespace: string]: { readonly [dimensions: string]: readonly string[] } } = {
  'AWS/Lambda': { FunctionName: ['Duration', 'Errors', 'Invocations', 'Throttles', 'ConcurrentExecutions'] },
  'AWS/SQS': {
    QueueName: [
      'ApproximateAgeOfOldestMessage',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesVisible',
      'NumberOfMessagesSent',
    ],
  },
  'AWS/DynamoDB': {
    TableName: [
      'ConsumedReadCapacityUnits',
      'ConsumedWriteCapacityUnits',
      'ReadThrottleEvents',
      'WriteThrottleEvents',
    ],
    'Operation,TableName': ['SuccessfulRequestLatency', 'SystemErrors', 'ThrottledRequests'],
  },
  'AWS/ApiGateway': {
    // REST APIs
    ApiName: ['4XXError', '5XXError', 'Count', 'IntegrationLatency', 'Latency'],
    // HTTP APIs, then WebSocket APIs
    ApiId: [
      ...['4xx', '5xx', 'Count', 'DataProcessed', 'IntegrationLatency', 'Latency'],
      ...['ClientError', 'ConnectCount', 'ExecutionError', 'IntegrationError', 'MessageCount'],
    ],
  },
  [cachingAgentLagMetric.namespace]: {
    [cachingAgentLagMetric.dimension]: [
      cachingAgentLagMetric,
      settingsUnusableMetric,
      ...Object.values(staleAccountsMetrics),
      ...Object.values(rejectedAccountsMetrics),
    ].map(({ metricName }) => metricName),
    [`${deadLettersMetric.dimension},${deadLettersMetric.reasonDimension}`]: [deadLettersMetric.metricName],
  },
};

/** What alarms and the dashboard look at although nobody writes it, and alarms that do not say what no data means. */
export function findBlindAlarms(assembly: Assembly): string[] {
  const alarms = listAlarms(assembly);
  const vague = alarms
    .filter(({ TreatMissingData }) => !['breaching', 'notBreaching'].includes(TreatMissingData ?? ''))
    .map(({ AlarmName }) => `${AlarmName}: says not what no data means`);
  const watched = alarms.flatMap((alarm) =>
    [alarm, ...(alarm.Metrics ?? []).map(({ MetricStat }) => MetricStat?.Metric ?? {})]
      .filter(({ MetricName }) => MetricName !== undefined)
      .map((metric) => [alarm.AlarmName, metric] as const),
  );
  const shown = listShown(assembly).map((metric) => ['dashboard', metric] as const);
  const unknown = [...watched, ...shown]
    .filter(([, metric]) => !isKnown(metric))
    .map(([where, metric]) => `${where}: nobody writes ${JSON.stringify(metric)}`);
  return [...vague, ...unknown];
}

/** Schedules of which no alarm notices that they do not run, by the names of their functions' constructs. */
export function findUnwatchedSchedules(assembly: Assembly): string[] {
  const heartbeats = listAlarms(assembly)
    .filter(({ TreatMissingData }) => TreatMissingData === 'breaching')
    .map(({ Dimensions }) => JSON.stringify(Dimensions));
  return [...assembly.values()].flatMap((template) =>
    listProperties<RuleProperties>(template, 'AWS::Events::Rule')
      .filter(({ ScheduleExpression }) => ScheduleExpression !== undefined)
      .flatMap(({ Targets = [] }) => Targets.map(({ Arn }) => getLogicalId(Arn)))
      .filter((id) => !heartbeats.some((dimensions) => dimensions.includes(`"${id}"`))),
  );
}

/**
 * Functions that rules of EventBridge start, and that Lambda would start again for a failure, or for what is older than a minute: "Error
 * handling for an asynchronous invocation" in the guide of Lambda. By the names of their constructs.
 */
export function findRepeatedRuns(assembly: Assembly): string[] {
  return [...assembly.values()].flatMap((template) => {
    const limited = listProperties<InvokeLimits>(template, 'AWS::Lambda::EventInvokeConfig')
      .filter((one) => one.MaximumRetryAttempts === 0 && (one.MaximumEventAgeInSeconds ?? Infinity) <= 60)
      .map(({ FunctionName }) => JSON.stringify(FunctionName));
    const functions = template.findResources('AWS::Lambda::Function');
    return listProperties<RuleProperties>(template, 'AWS::Events::Rule')
      .flatMap(({ Targets = [] }) => Targets.map(({ Arn }) => getLogicalId(Arn)))
      .filter((id) => id in functions && !limited.some((name) => name.includes(`"${id}"`)));
  });
}

/** Queues, those of dead letters too, whose oldest message may grow old without an alarm, by their names. */
export function findUnwatchedQueues(assembly: Assembly): string[] {
  return [...assembly.values()].flatMap((template) => {
    const watched = listProperties<AlarmProperties>(template, 'AWS::CloudWatch::Alarm')
      .filter(({ MetricName }) => MetricName === 'ApproximateAgeOfOldestMessage')
      .map(({ Dimensions }) => JSON.stringify(Dimensions));
    return Object.entries(template.findResources('AWS::SQS::Queue'))
      .filter(([id]) => !watched.some((dimensions) => dimensions.includes(`"${id}"`)))
      .map(([, { Properties }]) => `nobody watches the age of ${Properties.QueueName}`);
  });
}

function getLogicalId(arn: unknown): string {
  return /"Fn::GetAtt":\["(\w+)"/.exec(JSON.stringify(arn))?.[1] ?? JSON.stringify(arn);
}

function isKnown({ Namespace = '', MetricName = '', Dimensions = [] }: MetricReference): boolean {
  const names = Dimensions.map(({ Name }) => Name).sort();
  return metrics[Namespace]?.[names.join()]?.includes(MetricName) ?? false;
}

function listAlarms(assembly: Assembly): AlarmProperties[] {
  return [...assembly.values()].flatMap((template) =>
    listProperties<AlarmProperties>(template, 'AWS::CloudWatch::Alarm'),
  );
}

/** A widget's metrics are lists: namespace, name, dimensions by turns, and how it is drawn. */
function listShown(assembly: Assembly): MetricReference[] {
  return [...assembly.values()]
    .flatMap((template) =>
      listProperties<{ readonly DashboardBody: unknown }>(template, 'AWS::CloudWatch::Dashboard'),
    )
    .flatMap(({ DashboardBody }) =>
      [...toText(DashboardBody).matchAll(/\["(?:AWS|Busdriver)[^\]]+?\]/g)].map(([list]) => toMetric(list)),
    );
}

function toMetric(list: string): MetricReference {
  const parts = JSON.parse(list) as unknown[];
  const [Namespace, MetricName, ...rest] = parts.filter((part) => typeof part === 'string');
  const Dimensions = rest.filter((_, index) => index % 2 === 0).map((Name) => ({ Name }));
  return { Namespace: String(Namespace), MetricName: String(MetricName), Dimensions };
}

/** The text of a `Fn::Join`, what is not known before the deploy left out. */
function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  const { 'Fn::Join': [, parts] = ['', []] } = body as { 'Fn::Join'?: [string, unknown[]] };
  return parts.map((part) => (typeof part === 'string' ? part : '')).join('');
}

function listProperties<T>(template: Template, type: string): T[] {
  return Object.values(template.findResources(type)).map(({ Properties }) => Properties as T);
}

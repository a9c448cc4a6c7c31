import type { RunReporter } from '../core/cache/report-runs.ts';
import type { Clock } from '../core/clock.ts';
import { agentLagMetric, tooLargeMetric } from '../core/metrics.ts';
import { type Config, type Environment, readEnvironment } from './config.ts';

/** Values that one line may hold for a metric: CloudWatch's limit. */
const valuesMax = 100;

/** How to record metrics of agents. */
export interface AgentMetricsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The function's own least level: Lambda drops lines below it, and takes one without a level for INFO. */
  readonly logLevel: Config['logLevel'];
  /** Takes a line; default: standard output. */
  write?(line: string): void;
  /** Default: the process's. */
  readonly environment?: Environment;
}

/**
 * What puts metrics of agents into CloudWatch: lines of the embedded metric format on standard output, which Lambda's log takes as
 * they are. Where no Lambda runs it does nothing.
 */
export function createAgentMetrics(
  options: AgentMetricsOptions,
): Pick<RunReporter, 'recordLags' | 'recordTooLarge'> {
  const { environment = readEnvironment(), write = (line) => void process.stdout.write(`${line}\n`) } =
    options;
  const functionName = environment['AWS_LAMBDA_FUNCTION_NAME'];
  const record = (metric: AgentMetric, values: readonly number[]): void => {
    if (functionName === undefined) return;
    for (let start = 0; start < values.length; start += valuesMax) {
      const some = values.slice(start, start + valuesMax);
      write(JSON.stringify(toMetricLine(functionName, options, { ...metric, values: some })));
    }
  };
  return {
    recordLags(lagsMs) {
      record(
        { ...agentLagMetric, unit: 'Seconds' },
        lagsMs.map((lagMs) => lagMs / 1000),
      );
    },
    recordTooLarge: (counts) => record({ ...tooLargeMetric, unit: 'Count' }, counts),
  };
}

interface AgentMetric {
  readonly namespace: string;
  readonly metricName: string;
  readonly dimension: string;
  readonly unit: 'Seconds' | 'Count';
}

function toMetricLine(
  functionName: string,
  { clock, logLevel }: AgentMetricsOptions,
  { namespace, metricName, dimension, unit, values }: AgentMetric & { readonly values: readonly number[] },
): object {
  const metrics = [{ Name: metricName, Unit: unit }];
  const atMs = clock.now();
  return {
    level: logLevel,
    timestamp: new Date(atMs).toISOString(),
    _aws: {
      Timestamp: atMs,
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[dimension]], Metrics: metrics }],
    },
    [dimension]: functionName,
    [metricName]: values,
  };
}

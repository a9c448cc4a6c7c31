import type { Clock } from '#core/clock.ts';
import { cachingAgentLagMetric } from '#core/metrics.ts';
import type { Config, Environment } from '../config.ts';

/** How to write metrics. */
export interface MetricWriterOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The function's own log level: Lambda drops lines below it, and treats one without a level as INFO. */
  readonly logLevel: Config['logLevel'];
  /** Takes a line; default: standard output. */
  write?(line: string): void;
  /** The installation's environment, in which Lambda names the running function. */
  readonly environment: Environment;
}

/** A metric with its value. */
export interface MetricValue {
  readonly metricName: string;
  readonly unit: 'Seconds' | 'Count' | 'Percent';
  /** One value, or up to 100. */
  readonly value: number | readonly number[];
}

/** Writes a line with metrics, with further dimensions besides the function's name if there are any. */
export type MetricWriter = (
  metrics: readonly MetricValue[],
  dimensions?: { readonly [name: string]: string },
) => void;

/** Writes metrics to CloudWatch, in the embedded metric format on standard output. Does nothing outside Lambda. */
export function createMetricWriter(options: MetricWriterOptions): MetricWriter {
  const { environment, write = (line) => void process.stdout.write(`${line}\n`) } = options;
  const functionName = environment['AWS_LAMBDA_FUNCTION_NAME'];
  if (functionName === undefined) return () => undefined;
  return (metrics, dimensions = {}) =>
    write(
      JSON.stringify(
        toLine(metrics, { [cachingAgentLagMetric.dimension]: functionName, ...dimensions }, options),
      ),
    );
}

function toLine(
  metrics: readonly MetricValue[],
  dimensions: { readonly [name: string]: string },
  { clock, logLevel }: MetricWriterOptions,
): object {
  const atMs = clock.now();
  return {
    level: logLevel,
    timestamp: new Date(atMs).toISOString(),
    _aws: {
      Timestamp: atMs,
      CloudWatchMetrics: [
        {
          Namespace: cachingAgentLagMetric.namespace,
          Dimensions: [Object.keys(dimensions)],
          Metrics: metrics.map(({ metricName, unit }) => ({ Name: metricName, Unit: unit })),
        },
      ],
    },
    ...dimensions,
    ...Object.fromEntries(metrics.map(({ metricName, value }) => [metricName, value])),
  };
}

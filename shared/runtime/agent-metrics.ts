import type { Clock } from '../core/clock.ts';
import { agentLagMetric } from '../core/metrics.ts';
import { type Config, type Environment, readEnvironment } from './config.ts';

/** Values that one line may hold for a metric: CloudWatch's limit. */
const valuesMax = 100;

/** How to record lags. */
export interface LagRecorderOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The function's own least level: Lambda drops lines below it, and takes one without a level for INFO. */
  readonly logLevel: Config['logLevel'];
  /** Takes a line; default: standard output. */
  write?(line: string): void;
  /** Default: the process's. */
  readonly environment?: Environment;
}

/**
 * What puts the lags of agents, given in milliseconds, into CloudWatch: lines of the embedded metric format on standard output,
 * which Lambda's log takes as they are. Where no Lambda runs it does nothing.
 */
export function createLagRecorder(options: LagRecorderOptions): (lagsMs: readonly number[]) => void {
  const { environment = readEnvironment(), write = (line) => void process.stdout.write(`${line}\n`) } =
    options;
  const functionName = environment['AWS_LAMBDA_FUNCTION_NAME'];
  if (functionName === undefined) return () => undefined;
  return (lagsMs) => {
    for (let start = 0; start < lagsMs.length; start += valuesMax) {
      const seconds = lagsMs.slice(start, start + valuesMax).map((lagMs) => lagMs / 1000);
      write(JSON.stringify(toMetricLine(functionName, options, seconds)));
    }
  };
}

function toMetricLine(
  functionName: string,
  { clock, logLevel }: LagRecorderOptions,
  seconds: readonly number[],
): object {
  const { namespace, metricName, dimension } = agentLagMetric;
  const metrics = [{ Name: metricName, Unit: 'Seconds' }];
  const atMs = clock.now();
  return {
    level: logLevel,
    timestamp: new Date(atMs).toISOString(),
    _aws: {
      Timestamp: atMs,
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[dimension]], Metrics: metrics }],
    },
    [dimension]: functionName,
    [metricName]: seconds,
  };
}

import type { Clock } from '../core/clock.ts';
import { agentLagMetric } from '../core/metrics.ts';
import { type Environment, readEnvironment } from './config.ts';

/** Values that one line may hold for a metric: CloudWatch's limit. */
const valuesMax = 100;

/**
 * What puts the lags of agents, given in milliseconds, into CloudWatch: lines of the embedded metric format on standard output,
 * which Lambda's log takes as they are. Where no Lambda runs it does nothing.
 *
 * @param write takes a line; default: standard output.
 */
export function createLagRecorder(
  clock: Pick<Clock, 'now'>,
  write: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
  environment: Environment = readEnvironment(),
): (lagsMs: readonly number[]) => void {
  const functionName = environment['AWS_LAMBDA_FUNCTION_NAME'];
  if (functionName === undefined) return () => undefined;
  return (lagsMs) => {
    for (let start = 0; start < lagsMs.length; start += valuesMax) {
      const seconds = lagsMs.slice(start, start + valuesMax).map((lagMs) => lagMs / 1000);
      write(JSON.stringify(toMetricLine(functionName, clock.now(), seconds)));
    }
  };
}

function toMetricLine(functionName: string, atMs: number, seconds: readonly number[]): object {
  const { namespace, metricName, dimension } = agentLagMetric;
  const metrics = [{ Name: metricName, Unit: 'Seconds' }];
  return {
    _aws: {
      Timestamp: atMs,
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[dimension]], Metrics: metrics }],
    },
    [dimension]: functionName,
    [metricName]: seconds,
  };
}

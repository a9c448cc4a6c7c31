import { expect, it } from 'vitest';
import { createAgentMetrics } from '../../../shared/runtime/agent-metrics.ts';

const clock = { now: () => 1_800_000_000_000 };

it('writes the lags of runs as CloudWatch takes them from a log, a hundred to a line', () => {
  const lines: string[] = [];
  const { recordLags: record, recordTooLarge } = createAgentMetrics({
    clock,
    logLevel: 'WARN',
    write: (line) => void lines.push(line),
    environment: { AWS_LAMBDA_FUNCTION_NAME: 'busdriver-dev-run-caching-agents' },
  });
  record([1_500, 0]);
  record(Array.from({ length: 150 }, () => 20));
  record([]);
  const [first, ...others] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toEqual({
    level: 'WARN',
    timestamp: '2027-01-15T08:00:00.000Z',
    _aws: {
      Timestamp: 1_800_000_000_000,
      CloudWatchMetrics: [
        {
          Namespace: 'Busdriver',
          Dimensions: [['FunctionName']],
          Metrics: [{ Name: 'AgentLag', Unit: 'Seconds' }],
        },
      ],
    },
    FunctionName: 'busdriver-dev-run-caching-agents',
    AgentLag: [1.5, 0],
  });
  expect(others.map(({ AgentLag }) => (AgentLag as number[]).length)).toEqual([100, 50]);

  lines.length = 0;
  recordTooLarge([2, 1]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    _aws: { CloudWatchMetrics: [{ Metrics: [{ Name: 'TooLarge', Unit: 'Count' }] }] },
    TooLarge: [2, 1],
  });
});

it('writes nothing where no Lambda runs', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  createAgentMetrics({ clock, logLevel: 'INFO', write, environment: {} }).recordLags([1_500]);
  expect(lines).toEqual([]);
});

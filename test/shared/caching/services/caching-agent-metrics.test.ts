import { expect, it } from 'vitest';
import { createCachingAgentMetrics } from '#caching/services/caching-agent-metrics.ts';
import { toAlarmShare } from '#core/metrics.ts';

const clock = { now: () => 1_800_000_000_000 };

it('writes the lags of runs as CloudWatch takes them from a log, a hundred to a line', () => {
  const lines: string[] = [];
  const { recordLags: record, recordTooLarge } = createCachingAgentMetrics({
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

it('tells how settings and accounts are, each in one line', () => {
  const lines: string[] = [];
  const metrics = createCachingAgentMetrics({
    clock,
    logLevel: 'INFO',
    write: (line) => void lines.push(line),
    environment: { AWS_LAMBDA_FUNCTION_NAME: 'busdriver-dev-schedule-agents' },
  });
  metrics.recordSettings(true);
  metrics.recordSettings(false);
  metrics.recordStaleAccounts({ all: 20, stale: ['one', 'two', 'three'] });
  metrics.recordRejectedAccounts({ rejected: 1, all: 20 });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { SettingsUnusable: 0, FunctionName: 'busdriver-dev-schedule-agents' },
    { SettingsUnusable: 1 },
    {
      _aws: {
        CloudWatchMetrics: [
          {
            Dimensions: [['FunctionName']],
            Metrics: [
              { Name: 'StaleAccounts', Unit: 'Count' },
              { Name: 'StaleAccountShare', Unit: 'Percent' },
            ],
          },
        ],
      },
      StaleAccounts: 3,
      StaleAccountShare: 15,
    },
    { RejectedAccounts: 1, RejectedAccountShare: 0 },
  ]);
});

it.each([
  { affected: 0, all: 0, share: 0, why: 'nobody' },
  { affected: 1, all: 2, share: 0, why: 'one alone of several' },
  { affected: 1, all: 300, share: 0, why: 'one alone of many' },
  { affected: 1, all: 1, share: 100, why: 'the only one' },
  { affected: 2, all: 300, share: 2 / 3, why: 'two of many' },
  { affected: 4, all: 4, share: 100, why: 'all' },
])('gives alarms the share of accounts with trouble: $why', ({ affected, all, share }) => {
  expect(toAlarmShare(affected, all)).toBeCloseTo(share);
});

it('writes nothing where no Lambda runs', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  createCachingAgentMetrics({ clock, logLevel: 'INFO', write, environment: {} }).recordLags([1_500]);
  expect(lines).toEqual([]);
});

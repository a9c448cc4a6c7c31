import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { seriesMax } from '#core/bounded-labels.ts';
import { serveMetrics } from '#infra/server/metrics/serve-metrics.ts';
import { ServerMetrics } from '#infra/server/metrics/server-metrics.ts';
import { MeterPort } from '#platform/services/meter.ts';
import { silentLog as log } from '#test/support/engines/silent-log.ts';
import { parsePrometheusText } from '#test/support/system/prometheus-text.ts';

test('what is measured is shown by the names that dashboards ask for, and only since it is shown', async () => {
  const meter = new MeterPort();
  meter.record('tasks', { success: 'true' });
  const http = { host: '127.0.0.1', allowedHosts: [], readLoopDelayMs: () => 0 };
  await using server = await serveMetrics({ meter, port: 0, http, log });
  meter.record('tasks', { success: 'true' });
  meter.record('kubernetes_api', { account: 'prod', action: 'get', success: 'false' }, 0.25);
  meter.record('kubernetes_api', { account: 'prod', action: 'get', success: 'false' }, 0.5);

  const answer = await fetch(`${server.url}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/);
  const families = parsePrometheusText(await answer.text());
  const labels = { account: 'prod', action: 'get', success: 'false' };
  expect(families.get('kubernetes_api_seconds')?.samples).toEqual([
    { name: 'kubernetes_api_seconds_sum', labels, value: 0.75 },
    { name: 'kubernetes_api_seconds_count', labels, value: 2 },
  ]);
  expect(families.get('tasks_total')?.samples).toMatchObject([{ value: 1 }]);
  expect([...families.keys()]).toContain('process_resident_memory_bytes');

  const spectator = await (await fetch(`${server.url}/spectator/metrics`)).json();
  const tags = Object.entries(labels).map(([key, value]) => ({ key, value }));
  expect(spectator).toMatchObject({
    metrics: {
      'kubernetes.api': {
        kind: 'Timer',
        values: [
          { tags: [...tags, { key: 'statistic', value: 'totalTime' }], values: [{ v: 0.75e9 }] },
          { tags: [...tags, { key: 'statistic', value: 'count' }], values: [{ v: 2 }] },
        ],
      },
    },
  });
  expect((await fetch(`${server.url}/credentials`)).status).toBe(404);
});

test('labels from outside make a bounded number of series', async () => {
  const metrics = new ServerMetrics();
  for (let index = 0; index < seriesMax + 50; index += 1)
    metrics.record('validationErrors', { operation: `${index}${'x'.repeat(1_000)}` });
  const { samples = [] } =
    parsePrometheusText(await metrics.formatForPrometheus()).get('validationErrors_total') ?? {};
  expect(samples).toHaveLength(seriesMax);
  expect(samples.find(({ labels }) => labels['operation'] === 'other')?.value).toBe(51);
  expect(Math.max(...samples.map(({ labels }) => labels['operation']?.length ?? 0))).toBeLessThan(254);
});

const rules = 'docs/examples/prometheus-rules.yaml';

test('the dashboard and the alert rules name no metric that does not exist', async () => {
  const shown = await new ServerMetrics().formatForPrometheus();
  const dashboard = JSON.parse(readFileSync('docs/examples/grafana-dashboard.json', 'utf8'));
  const asked = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );
  const texts = [
    ...asked,
    ...readFileSync(rules, 'utf8')
      .matchAll(/expr: (.*)/g)
      .map(([, expr]) => expr),
  ];
  const metrics = texts.flatMap((text) => String(text).match(/\b[a-z]+_\w+/gi) ?? []);
  expect(metrics.length).toBeGreaterThan(15);
  const isShown = (name: string) => shown.includes(`# TYPE ${name.replace(/_(count|sum)$/, '')} `);
  expect(metrics.filter((name) => !isShown(name))).toEqual([]);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test.skipIf(!hasPromtool)('promtool accepts the metrics and the rules', async () => {
  const input = await new ServerMetrics().formatForPrometheus();
  execFileSync('promtool', ['check', 'rules', rules]);
  execFileSync('promtool', ['check', 'metrics', '--lint=none'], { input });
});

import { describe, expect, it } from 'vitest';
import { seriesMax } from '#core/bounded-labels.ts';
import { AgentMetrics } from '#infra/agent/status/agent-metrics.ts';
import { parsePrometheusText } from '#test/support/system/prometheus-text.ts';

/** The value of a metric by its label, or of all that a histogram has. */
async function read(metrics: AgentMetrics, name: string): Promise<Record<string, number>> {
  const samples = parsePrometheusText(await metrics.format()).get(name)?.samples ?? [];
  return Object.fromEntries(
    samples.map((sample) => [
      sample.name === name
        ? (sample.labels['account'] ?? '')
        : `${sample.name.slice(name.length)}${sample.labels['le'] ?? ''}`,
      sample.value,
    ]),
  );
}

describe('the metrics of an agent', () => {
  it("have the names that dashboards for Armory's agent know, and its own", async () => {
    const families = parsePrometheusText(await new AgentMetrics().format());
    expect(Object.fromEntries([...families].map(([name, { type }]) => [name, type]))).toEqual({
      kubesvc_connection_count: 'gauge',
      kubesvc_disconnection_total: 'counter',
      kubesvc_events_sent_total: 'counter',
      kubesvc_events_bytes_sent_total: 'counter',
      kubesvc_resource_agent_total: 'gauge',
      busdriver_agent_outbox_changes: 'gauge',
      busdriver_agent_lag_seconds: 'gauge',
      busdriver_agent_batch_seconds: 'histogram',
      busdriver_agent_task_seconds: 'histogram',
      busdriver_agent_tasks: 'gauge',
      busdriver_agent_reads: 'gauge',
      process_resident_memory_bytes: 'gauge',
    });
  });

  it('count connections, and each that was lost', async () => {
    const metrics = new AgentMetrics();
    for (const isConnected of [true, false, true]) metrics.countConnection(isConnected);
    expect(await read(metrics, 'kubesvc_connection_count')).toEqual({ '': 1 });
    expect(await read(metrics, 'kubesvc_disconnection_total')).toEqual({ '': 1 });
  });

  it('count batches, and spread them over buckets', async () => {
    const metrics = new AgentMetrics();
    metrics.countBatch({ changes: 500, bytes: 9_000, ms: 30 });
    metrics.countBatch({ changes: 1, bytes: 100, ms: 60_000 });
    expect(await read(metrics, 'kubesvc_events_sent_total')).toEqual({ '': 501 });
    expect(await read(metrics, 'kubesvc_events_bytes_sent_total')).toEqual({ '': 9_100 });
    expect(await read(metrics, 'busdriver_agent_batch_seconds')).toMatchObject({
      '_bucket0.025': 0,
      '_bucket0.05': 1,
      _bucket10: 1,
      '_bucket+Inf': 2,
      _sum: 60.03,
      _count: 2,
    });
  });

  it('tell what waits of an account, whatever it is called, and how long', async () => {
    const metrics = new AgentMetrics();
    const name = 'a"b\\c\nd';
    const ends = [
      metrics.beginChanges(name, 7),
      metrics.beginChanges('edge', 3),
      metrics.beginChanges('edge', 2),
    ];
    expect(await read(metrics, 'busdriver_agent_outbox_changes')).toEqual({ [name]: 7, edge: 5 });
    await expect
      .poll(async () => (await read(metrics, 'busdriver_agent_lag_seconds'))['edge'])
      .toBeGreaterThan(0.01);
    for (const end of ends) end();
    expect(await read(metrics, 'busdriver_agent_outbox_changes')).toEqual({ [name]: 0, edge: 0 });
    expect(await read(metrics, 'busdriver_agent_lag_seconds')).toEqual({ [name]: 0, edge: 0 });
  });

  it('count the kinds of all caching agents of an account', async () => {
    const metrics = new AgentMetrics();
    metrics.setWatches('edge', 'core', 40);
    metrics.setWatches('edge', 'custom', 2);
    metrics.setWatches('edge', 'core', 41);
    expect(await read(metrics, 'kubesvc_resource_agent_total')).toEqual({ edge: 43 });
  });

  it('count what runs until it ends', async () => {
    const metrics = new AgentMetrics();
    const ends = [metrics.beginTask(), metrics.beginTask(), metrics.beginRead()];
    expect(await read(metrics, 'busdriver_agent_tasks')).toEqual({ '': 2 });
    expect(await read(metrics, 'busdriver_agent_reads')).toEqual({ '': 1 });
    for (const end of ends) end();
    expect(await read(metrics, 'busdriver_agent_tasks')).toEqual({ '': 0 });
    expect(await read(metrics, 'busdriver_agent_reads')).toEqual({ '': 0 });
    expect(await read(metrics, 'busdriver_agent_task_seconds')).toMatchObject({ _count: 2 });
  });

  it('have a bounded number of series', async () => {
    const metrics = new AgentMetrics();
    for (let index = 0; index < 3 * seriesMax; index += 1) metrics.setWatches(`account-${index}`, 'core', 1);
    const series = await read(metrics, 'kubesvc_resource_agent_total');
    expect(Object.keys(series)).toHaveLength(seriesMax);
    expect(series).toHaveProperty('other');
  });
});

import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AgentHealth, stuckAfterMs } from '#infra/agent/status/agent-health.ts';
import { AgentMetrics } from '#infra/agent/status/agent-metrics.ts';
import { startHealthServer, startMetricsServer } from '#infra/agent/status/status-server.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

const address = { host: '127.0.0.1', port: 0 };

async function get(port: number, path: string, init?: RequestInit) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
}

describe('the health of an agent', () => {
  it('is bad for the liveness probe where a loop stands still', async () => {
    const clock = createTestClock();
    const health = new AgentHealth(clock);
    await using server = await startHealthServer(health, address);
    for (const loop of ['one', 'two']) health.turn(loop);
    expect(await get(server.port, '/health')).toMatchObject({ status: 200, text: '{"status":"UP"}\n' });
    clock.advance(stuckAfterMs + 1);
    health.turn('one');
    expect(await get(server.port, '/health/liveness')).toMatchObject({
      status: 503,
      text: '{"status":"STUCK"}\n',
    });
    health.turn('two');
    expect((await get(server.port, '/health')).status).toBe(200);
  });

  it('is good for the readiness probe while a session is open and work is taken', async () => {
    const health = new AgentHealth(createTestClock());
    let isOpen = false;
    health.watchSession(() => isOpen);
    await using server = await startHealthServer(health, address);
    const probe = async () => get(server.port, '/health/readiness');
    expect(await probe()).toMatchObject({ status: 503, text: '{"status":"WAITING"}\n' });
    isOpen = true;
    expect((await probe()).status).toBe(200);
    health.stop();
    expect(await probe()).toMatchObject({ status: 503, text: '{"status":"STOPPING"}\n' });
    expect((await get(server.port, '/health')).status).toBe(200);
  });
});

describe("the server of an agent's status", () => {
  it('answers the metrics at both paths', async () => {
    const metrics = new AgentMetrics();
    await using server = await startMetricsServer(metrics, address);
    for (const path of ['/metrics', '/prometheus_metrics', '/metrics?name=x']) {
      const { status, text, type } = await get(server.port, path);
      expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
      expect(text).toContain('kubesvc_connection_count 0\n');
    }
  });

  it('refuses all else', async () => {
    await using server = await startMetricsServer(new AgentMetrics(), address);
    expect((await get(server.port, '/health')).status).toBe(404);
    expect((await get(server.port, '/metrics', { method: 'POST', body: 'x' })).status).toBe(405);
    expect(await get(server.port, '/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it('survives who breaks off, and ends with connections open', async () => {
    const server = await startMetricsServer(new AgentMetrics(), address);
    const broken = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => broken.write('GET /met', resolve));
    broken.resetAndDestroy();
    const idle = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    expect((await get(server.port, '/metrics')).status).toBe(200);
    const closed = new Promise((resolve) => idle.once('close', resolve));
    await server[Symbol.asyncDispose]();
    await closed;
  });
});

import { describe, expect, it } from 'vitest';
import {
  createTokenSigner,
  findFreePort,
  findStatusPort,
  startAgent,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { parsePrometheusText } from '../../support/system/prometheus-text.ts';

const timeout = 60_000;

describe('an agent', () => {
  it(
    'tells the kubelet and Prometheus how it is',
    async () => {
      const signer = await createTokenSigner();
      const port = await findFreePort();
      await using world = await startWorld([toAgentAccount('edge', signer)], ['--port', String(port)]);
      const { system } = world;
      await using agent = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: 'none' }],
      });
      const ask = async (what: 'health' | 'metrics', path: string) =>
        fetch(`http://127.0.0.1:${findStatusPort(agent.log, what)}${path}`);
      const readMetric = async (name: string) =>
        parsePrometheusText(await (await ask('metrics', '/metrics')).text()).get(name)?.samples[0]?.value;
      const readReadiness = async () => (await ask('health', '/health/readiness')).status;

      await expect.poll(() => findStatusPort(agent.log, 'metrics'), { timeout }).toBeDefined();
      expect((await ask('health', '/health')).status).toBe(200);
      await expect.poll(readReadiness, { timeout }).toBe(200);
      await expect.poll(() => readMetric('kubesvc_connection_count'), { timeout }).toBe(1);
      expect(await readMetric('kubesvc_disconnection_total')).toBe(0);
      expect(await readMetric('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);

      await system.kill('SIGKILL');
      await expect.poll(() => readMetric('kubesvc_connection_count'), { timeout }).toBe(0);
      expect(await readMetric('kubesvc_disconnection_total')).toBe(1);
      expect((await ask('health', '/health')).status).toBe(200);
      await system.restart();
      await expect.poll(() => readMetric('kubesvc_connection_count'), { timeout }).toBe(1);
      expect(await agent.kill('SIGTERM')).toBe(0);
    },
    3 * timeout,
  );
});

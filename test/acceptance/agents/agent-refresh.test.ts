import { expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  startAgent,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startCachingWorld } from '../../support/agents/agent-world.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../support/cluster/cluster.ts';
import type { System } from '../../support/system/system.ts';

/** A change's way into a view, on a machine that does much else. */
const shownMs = 60_000;
const testMs = 240_000;

/** Agents that ask so seldom that whatever they do at once they were told to. */
const seldom = { limits: { pollIdleMs: 60_000, pollBusyMs: 60_000, pollConnectedMs: 60_000 } };

/** Milliseconds after which the lease of an agent may be had that is not told that it was given back. */
const lapsesMs = 30_000;

describeWithCluster('agents that are told what is to be cached', (cluster) => {
  test(
    'prove at once that an account is fresh, and take it over at once when the other one stops',
    async () => {
      await using stack = new AsyncDisposableStack();
      const namespace = stack.use(await createNamespace('fresh')).name;
      const signer = await createTokenSigner();
      const account = { ...toAgentAccount('edge', signer), namespaces: [namespace] };
      const { system } = stack.use(await startCachingWorld([account], [], { agents: seldom }));
      const token = await signer.sign();
      const start = async (): Promise<AgentProcess> => {
        const accounts = [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }];
        return stack.use(await startAgent({ url: system.url, token, accounts }));
      };
      const first = await start();
      await expect.poll(() => first.log, { timeout: shownMs }).toContain('keeping an account cached');
      const second = await start();
      await expect
        .poll(() => second.log, { timeout: shownMs })
        .toContain('connected: Busdriver tells of work');
      await expect.poll(() => isFresh(system, namespace), { timeout: shownMs }).toBe(true);

      const stoppedMs = performance.now();
      await first.kill('SIGTERM');
      await expect
        .poll(() => second.log, { timeout: shownMs, interval: 50 })
        .toContain('keeping an account cached');
      expect(performance.now() - stoppedMs).toBeLessThan(lapsesMs);
    },
    testMs,
  );
});

/** Whether somebody who asks for fresh data is shown what was made just before. */
async function isFresh(system: System, namespace: string): Promise<boolean> {
  const name = `made-${Math.floor(performance.now())}`;
  await requestApi('POST', `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name, annotations: { 'moniker.spinnaker.io/application': 'freshshop' } },
    spec: { ports: [{ port: 80 }] },
  });
  const calledMs = Date.now();
  const headers = { 'cache-control': 'max-age=0' };
  const answer = await system.fetch('/applications/freshshop/loadBalancers', { headers });
  const shown = (await answer.text()).includes(name);
  const asOfMs = Date.parse(answer.headers.get('x-busdriver-as-of') ?? '');
  return shown && asOfMs >= calledMs;
}

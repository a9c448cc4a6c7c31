import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { createTokenSigner, startAgent, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

/** Milliseconds in which an agent is to end, on a machine that does much else. */
const endMs = 20_000;

test('an agent that is told to end the moment it has a session ends in time', async () => {
  await using dir = await makeTempDir();
  const kubeConfigFile = path.join(dir.path, 'kubeconfig');
  await writeFile(kubeConfigFile, deadCluster);
  const signer = await createTokenSigner();
  await using world = await startWorld([toAgentAccount('edge', signer)]);
  const token = await signer.sign();
  for (let count = 0; count < 3; count += 1) {
    const accounts = [{ name: 'edge', kubeConfigFile }];
    await using agent = await startAgent({ url: world.system.url, token, accounts });
    await vi.waitFor(() => expect(agent.log).toContain('"session with Busdriver"'), {
      timeout: 60_000,
      interval: 2,
    });
    const toldMs = performance.now();
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(performance.now() - toldMs).toBeLessThan(endMs);
  }
}, 240_000);

/** Nothing listens there, and nobody calls it. */
const deadCluster = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'none' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

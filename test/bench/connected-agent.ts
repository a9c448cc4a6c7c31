import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProcess, startAgent, type TokenSigner } from '#test/support/agents/agent-process.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { RunningSystem } from './running-system.ts';

const sessionTimeoutMs = 60_000;
const lookPauseMs = 2;

export interface Installation {
  readonly system: Pick<RunningSystem, 'url'>;
  readonly signer: TokenSigner;
  readonly cluster: ClusterAccess;
}

/** Starts an agent of the accounts, and waits until it has a session. @throws Error when it has none within a minute */
export async function startConnected(
  { system, signer, cluster }: Installation,
  names: readonly string[],
): Promise<AgentProcess> {
  const accounts = names.map((name) => ({ name, kubeConfigFile: cluster.kubeconfig }));
  const agent = await startAgent({ url: system.url, token: await signer.sign(), accounts });
  const deadline = performance.now() + sessionTimeoutMs;
  while (!agent.log.includes('"session with Busdriver"')) {
    if (performance.now() > deadline) throw new Error(`an agent has no session: ${agent.log.slice(-500)}`);
    await sleep(lookPauseMs);
  }
  return agent;
}

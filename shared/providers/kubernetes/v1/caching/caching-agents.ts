import type { CachingAgent, CachingResult, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { isV1Account, type KubernetesAccount, type KubernetesV1Account } from '../../account/account.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import { type CachingAgentParts, createCachingAgent } from '../../caching/caching-agents.ts';
import { deleteEndedJobs, sweepIntervalMs } from './ended-jobs.ts';
import { createRegistrationAgents } from './registration-agents.ts';

/** Name of the caching agent of a V1 account. */
export const v1CachingAgentName = 'KubernetesV1CachingAgent[1/1]';

/** Kinds for which Spinnaker's V1 provider had separate caching agents, whose names dashboards may contain. */
const replacedAgents = [
  ...['Instance', 'LoadBalancer', 'SecurityGroup', 'ServerGroup', 'Deployment', 'ServiceAccount'],
  ...['ConfigMap', 'Secret', 'Controllers'],
]
  .map((kind) => `Kubernetes${kind}CachingAgent`)
  .join(', ');

/**
 * Creates the caching agents of V1 accounts, and the agents that maintain their namespaces and pull secrets. Nothing is loaded or connected
 * before one of them runs.
 */
export function createV1Agents(
  session: KubernetesSession,
  options: ProviderContext,
): readonly CachingAgent[] {
  return [...createV1CachingAgents(session, options), ...createRegistrationAgents(session, options)];
}

function createV1CachingAgents(
  session: KubernetesSession,
  options: ProviderContext,
): readonly CachingAgent[] {
  if (!session.settings.cache.enabled) return [];
  const connections = session.openWatchClients(options, 'agents');
  const complete: CachingAgentParts['complete'] = (account, signal) =>
    completeAccount(account, session, signal);
  const parts = { session, options, connections, family: 'built-in', hasCustomAgent: false } as const;
  return session.v1Accounts.map((account) => {
    const agent = createCachingAgent(account, { ...parts, name: v1CachingAgentName, complete });
    const sweep = createSweep(account, session);
    const { watch = missWatch } = agent;
    return {
      ...agent,
      async run(run) {
        const result = await agent.run(run);
        await sweep(run);
        return addDetails(result);
      },
      async watch(run) {
        const onProgress: typeof run.onProgress = (progress) => run.onProgress(addDetails(progress));
        const ending = new AbortController();
        const signal = AbortSignal.any([run.signal, ending.signal]);
        const sweeping = sweepUntilAborted(sweep, session.clock, { ...run, signal });
        try {
          return addDetails(await watch({ ...run, onProgress }));
        } finally {
          ending.abort();
          await sweeping;
        }
      },
    };
  });
}

/** All agents from `createCachingAgent` can be watched. */
function missWatch(): never {
  throw new Error('a V1 account cannot be watched');
}

type Sweep = (run: Pick<CachingRun, 'signal' | 'ensureHeld'>) => Promise<void>;

/** Creates the function that deletes jobs that ended a while ago; it may be called at any rate. */
function createSweep(account: KubernetesV1Account, session: KubernetesSession): Sweep {
  const { clock, log } = session;
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  return async (run) => {
    if (clock.monotonic() - sweptAtMs < sweepIntervalMs) return;
    sweptAtMs = clock.monotonic();
    const [client, whole] = await Promise.all([
      session.getClient(account),
      completeAccount(account, session, run.signal),
    ]);
    await deleteEndedJobs({ account: whole, client, clock, log }, run);
  };
}

/** Sweeps now and then. The watch itself reports errors. */
async function sweepUntilAborted(
  sweep: Sweep,
  clock: Clock,
  run: Pick<CachingRun, 'signal' | 'ensureHeld'>,
): Promise<void> {
  while (!run.signal.aborted) {
    await sweep(run).catch(() => undefined);
    await clock.sleep(sweepIntervalMs, run.signal).catch(() => undefined);
  }
}

/** The account with the namespaces that it uses: those that it does not name come from its kubeconfig. */
async function completeAccount(
  account: KubernetesAccount,
  session: KubernetesSession,
  signal: AbortSignal,
): Promise<KubernetesAccount> {
  if (!isV1Account(account)) return account;
  const client = await session.getClient(account);
  return { ...account, namespaces: await loadV1Namespaces(account, client, signal) };
}

function addDetails<T extends Pick<CachingResult, 'details'>>(result: T): T {
  return { ...result, details: { ...result.details, agents: replacedAgents } };
}

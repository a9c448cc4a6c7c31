import { type CachingAgent, defaultCachingAgentTimeoutMs } from '#caching/scheduling/caching-agent.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { KubernetesSession } from '../../account/session.ts';
import type { PullSecretMemory } from './pull-secrets.ts';

/** Milliseconds between two checks of a V1 account's namespaces, as in Spinnaker. */
export const registrationIntervalMs = 30_000;

/** Name of the caching agent that maintains a V1 account's namespaces and pull secrets. */
export const registrationAgentName = 'KubernetesV1RegistrationAgent';

/**
 * Creates the caching agents that maintain V1 accounts' objects in their clusters: existing namespaces, and current pull secrets. Nothing
 * is loaded or connected before one of them runs.
 */
export function createRegistrationAgents(
  session: KubernetesSession,
  { peers }: Pick<ProviderContext, 'peers'>,
): readonly CachingAgent[] {
  const { clock, log } = session;
  return session.v1Accounts.map((account) => {
    let memory: PullSecretMemory | undefined;
    const told = { warnings: '' };
    return {
      account: account.name,
      name: registrationAgentName,
      provider: account.cloudProvider,
      mode: 'interval',
      intervalMs: registrationIntervalMs,
      timeoutMs: defaultCachingAgentTimeoutMs,
      async run(run) {
        const [{ runRegistration }, pullSecrets, client] = await Promise.all([
          import('./registration-run.ts'),
          import('./pull-secrets.ts'),
          session.getClient(account),
        ]);
        memory ??= new pullSecrets.PullSecretMemory(clock);
        const registries = peers?.findRegistryCredentials();
        const noteWarning = (warning: string) => session.noteWarning(account, warning);
        return runRegistration({ account, client, clock, log, registries, memory, told, noteWarning }, run);
      },
    };
  });
}

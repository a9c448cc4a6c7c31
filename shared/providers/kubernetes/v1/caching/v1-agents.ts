import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { ProviderOptions } from '#provider-kit/provider.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { createV1CachingAgents } from './caching-agents.ts';
import { createRegistrationAgents } from './registration-agents.ts';

/** Creates the caching agents of V1 accounts, and the agents that maintain their namespaces and pull secrets. */
export function createV1Agents(
  session: KubernetesSession,
  options: ProviderOptions,
): readonly CachingAgent[] {
  return [...createV1CachingAgents(session, options), ...createRegistrationAgents(session, options)];
}

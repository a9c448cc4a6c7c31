import { hasAgent } from '#accounts/agent-definitions.ts';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import type { BaseServices } from '#platform/services/base.ts';
import type { AgentsChange } from './former-sessions.ts';

/**
 * Ends sessions of agents as `former-sessions.ts` does where the account may have some. What that takes is loaded then: most accounts
 * have no agents.
 *
 * @param change.before undefined where there was no account
 */
export async function endFormerAgents(
  services: BaseServices,
  { before, ...change }: Omit<AgentsChange, 'before'> & { readonly before: StoredAccount | undefined },
): Promise<(() => Promise<void>) | undefined> {
  if (!services.config.servesAgents || before === undefined || !hasAgent(before)) return undefined;
  const { endFormerSessions } = await import('./former-sessions.ts');
  return endFormerSessions(services, { before, ...change });
}

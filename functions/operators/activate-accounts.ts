import { activateAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openAgentAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** PATCH /armory/accounts: lets the agents of accounts in, or shuts them out. */
export const handler = operatorHandler(
  openAgentAccounts,
  async function activateAgentAccounts(request, services) {
    return activateAccounts(request, services);
  },
);

import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { activateAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { openAgentAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** PATCH /armory/accounts: lets the agents of accounts in, or shuts them out. */
export const handler = apiHandler(openAgentAccounts, async function activateAgentAccounts(request, services) {
  return activateAccounts(request, services);
});

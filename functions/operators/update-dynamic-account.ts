import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { updateDynamicAccount } from '../../shared/runtime/http/dynamic-accounts.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** PUT /armory/accounts/dynamic: replaces one of them. */
export const handler = apiHandler(openDynamicAccounts, async function updateAgentAccount(request, services) {
  return updateDynamicAccount(request, services);
});

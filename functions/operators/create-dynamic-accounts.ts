import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { createDynamicAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** POST /armory/accounts/dynamic: creates accounts that agents serve. */
export const handler = apiHandler(openDynamicAccounts, async function createAgentAccounts(request, services) {
  return createDynamicAccounts(request, services);
});

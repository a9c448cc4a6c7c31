import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { deleteDynamicAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** DELETE /armory/accounts: deletes accounts that agents serve. */
export const handler = apiHandler(openDynamicAccounts, async function deleteAgentAccounts(request, services) {
  return deleteDynamicAccounts(request, services);
});

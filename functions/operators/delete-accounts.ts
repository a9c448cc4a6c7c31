import { deleteDynamicAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** DELETE /armory/accounts: deletes accounts that agents serve. */
export const handler = operatorHandler(
  openDynamicAccounts,
  async function deleteAgentAccounts(request, services) {
    return deleteDynamicAccounts(request, services);
  },
);

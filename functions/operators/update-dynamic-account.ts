import { updateDynamicAccount } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** PUT /armory/accounts/dynamic: replaces one of them. */
export const handler = operatorHandler(
  openDynamicAccounts,
  async function updateAgentAccount(request, services) {
    return updateDynamicAccount(request, services);
  },
);

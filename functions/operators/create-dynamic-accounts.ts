import { createDynamicAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** POST /armory/accounts/dynamic: creates accounts that agents serve. */
export const handler = operatorHandler(
  openDynamicAccounts,
  async function createAgentAccounts(request, services) {
    return createDynamicAccounts(request, services);
  },
);

import { getDynamicAccount } from '../../shared/runtime/http/dynamic-account-views.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openAgentAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** GET /armory/accounts/{account}: an account that agents serve. */
export const handler = operatorHandler(
  openAgentAccounts,
  async function getDynamicAccountByName(request, services) {
    return getDynamicAccount(request, services);
  },
);

import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { getDynamicAccount } from '../../shared/runtime/http/dynamic-account-views.ts';
import { openAgentAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** GET /armory/accounts/{account}: an account that agents serve. */
export const handler = apiHandler(
  openAgentAccounts,
  async function getDynamicAccountByName(request, services) {
    return getDynamicAccount(request, services);
  },
);

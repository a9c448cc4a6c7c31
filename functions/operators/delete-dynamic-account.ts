import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { deleteDynamicAccount } from '../../shared/runtime/http/dynamic-accounts.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** DELETE /armory/accounts/{account}: deletes one of them. */
export const handler = apiHandler(
  openDynamicAccounts,
  async function deleteDynamicAccountByName(request, services) {
    return deleteDynamicAccount(request, services);
  },
);

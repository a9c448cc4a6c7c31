import { deleteDynamicAccount } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** DELETE /armory/accounts/{account}: deletes one of them. */
export const handler = operatorHandler(
  openDynamicAccounts,
  async function deleteDynamicAccountByName(request, services) {
    return deleteDynamicAccount(request, services);
  },
);

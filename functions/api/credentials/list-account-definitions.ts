import { listDefinitions } from '../../../shared/runtime/http/account-lists.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** GET /credentials/type/{type}: definitions of accounts that an API made. */
export const handler = apiHandler(openAccounts, async function listAccountDefinitions(request, services) {
  return listDefinitions(request, services);
});

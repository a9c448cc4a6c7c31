import { listHistory } from '../../../shared/runtime/http/account-lists.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** GET /credentials/{account}/history: every change of an account that an API made. */
export const handler = apiHandler(openAccounts, async function listAccountHistory(request, services) {
  return listHistory(request, services);
});

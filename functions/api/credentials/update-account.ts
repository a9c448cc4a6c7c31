import { parseAccountBody, updateAccount } from '../../../shared/runtime/http/account-request.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** PUT /credentials/{account}: replaces an account. */
export const handler = apiHandler(openAccounts, async function updateCredentials(request, services) {
  return updateAccount(request, services, parseAccountBody(request, services));
});

import { parseAccountBody, updateAccount } from '#accounts/http/account-request.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** PUT /credentials/{account}: replaces an account. */
export const handler = apiHandler(openAccounts, async function updateCredentials(request, services) {
  return updateAccount(request, services, parseAccountBody(request, services));
});

import { parseAccountBody, saveAccount } from '#accounts/http/account-request.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** PUT /credentials: creates or replaces an account. */
export const handler = apiHandler(openAccounts, async function saveCredentials(request, services) {
  return saveAccount(request, services, parseAccountBody(request, services));
});

import { createAccount, parseAccountBody } from '#accounts/http/account-request.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** POST /credentials: creates an account. */
export const handler = apiHandler(openAccounts, async function createCredentials(request, services) {
  return createAccount(request, services, parseAccountBody(request, services));
});

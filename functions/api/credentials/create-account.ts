import { createAccount, parseAccountBody } from '../../../shared/runtime/http/account-request.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** POST /credentials: creates an account. */
export const handler = apiHandler(openAccounts, async function createCredentials(request, services) {
  return createAccount(request, services, parseAccountBody(request, services));
});

import { parseAccountBody, saveAccount } from '../../../shared/runtime/http/account-request.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** PUT /credentials: creates or replaces an account. */
export const handler = apiHandler(openAccounts, async function saveCredentials(request, services) {
  return saveAccount(request, services, parseAccountBody(request, services));
});

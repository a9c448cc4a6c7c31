import { deleteAccount } from '../../../shared/runtime/http/account-request.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** DELETE /credentials/{account}: deletes an account that an API made. */
export const handler = apiHandler(openAccounts, async function deleteCredentials(request, services) {
  return deleteAccount(request, services);
});

import { deleteAccount } from '#accounts/http/account-request.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** DELETE /credentials/{account}: deletes an account that an API made. */
export const handler = apiHandler(openAccounts, deleteAccount);

import { listHistory } from '#accounts/http/account-lists.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** GET /credentials/{account}/history: every change of an account that an API made. */
export const handler = apiHandler(openAccounts, listHistory);

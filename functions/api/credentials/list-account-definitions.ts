import { listDefinitions } from '#accounts/http/account-lists.ts';
import { openAccounts } from '#accounts/management/accounts.ts';
import { apiHandler } from '#http/api-handler.ts';

/** GET /credentials/type/{type}: definitions of accounts that an API made. */
export const handler = apiHandler(openAccounts, listDefinitions);

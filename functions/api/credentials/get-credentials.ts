import { getExpandedAccount } from '#accounts/http/expanded-accounts.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openReads } from '#views/services/views.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = apiHandler(openReads, async function getCredentials(request, services) {
  return ok(await getExpandedAccount(services, request.getParameter('account')));
});

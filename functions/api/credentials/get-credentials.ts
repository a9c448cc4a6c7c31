import { getExpandedAccount } from '#accounts/http/expanded-accounts.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openReads } from '#views/services/views.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = openHandler(openReads, async function getCredentials(request, services) {
  return ok(await getExpandedAccount(services, request.getParameter('account')));
});

import { getExpandedAccount } from '../../../shared/runtime/http/expanded-accounts.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openReads } from '../../../shared/runtime/services/views.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = openHandler(openReads, async function getCredentials(request, services) {
  return ok(await getExpandedAccount(services, request.getParameter('account')));
});

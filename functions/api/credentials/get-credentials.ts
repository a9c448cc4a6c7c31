import { openReadContext } from '../../../shared/runtime/context/view-context.ts';
import { getExpandedAccount } from '../../../shared/runtime/http/expanded-accounts.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = openHandler(openReadContext, async function getCredentials(request, context) {
  return ok(await getExpandedAccount(context, request.getParameter('account')));
});

import { getExpandedAccount } from '../../../shared/runtime/expanded-accounts.ts';
import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';
import { openReadContext } from '../../../shared/runtime/view-context.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = openHandler(openReadContext, async function getCredentials(request, context) {
  return ok(await getExpandedAccount(context, request.getParameter('account')));
});

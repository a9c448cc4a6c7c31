import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { getExpandedAccount } from '../../../shared/runtime/expanded-accounts.ts';
import { openReadContext } from '../../../shared/runtime/view-context.ts';

/** GET /credentials/{account}: one account, expanded. */
export const handler = apiHandler(openReadContext, async function getCredentials(request, context) {
  return ok(await getExpandedAccount(context, request.getParameter('account')));
});

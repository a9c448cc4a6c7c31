import { openReadContext } from '../../../shared/runtime/context/view-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getExpandedAccount } from '../../../shared/runtime/http/expanded-accounts.ts';

/**
 * GET /credentials/{account}/authorized: one account, expanded, for who may write to it. Orca asks it before webhooks when
 * `webhook.validateAccount` is on: it demands WRITE.
 */
export const handler = apiHandler(openReadContext, async function getAuthorizedCredentials(request, context) {
  return ok(await getExpandedAccount(context, request.getParameter('account')));
});

import { getExpandedAccount } from '#accounts/http/expanded-accounts.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openReads } from '#views/services/views.ts';

/**
 * GET /credentials/{account}/authorized: one account, expanded, for callers that may write to it. Orca asks it before webhooks when
 * `webhook.validateAccount` is on: it demands WRITE.
 */
export const handler = apiHandler(openReads, async function getAuthorizedCredentials(request, services) {
  return ok(await getExpandedAccount(services, request.getParameter('account')));
});

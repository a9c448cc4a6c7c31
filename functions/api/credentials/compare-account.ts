import { toUnknown } from '#accounts/http/account-absence.ts';
import { compareAccount } from '#caching/scheduling/compare-account.ts';
import { apiHandler } from '#http/api-handler.ts';
import { openReads } from '#views/services/views.ts';

/** POST /credentials/{account}/compare: has all that is cached of an account compared with its cluster now: 202. */
export const handler = apiHandler(openReads, async function compareCache(request, services) {
  const account = request.getParameter('account');
  if (services.providers.findAccount(account) === undefined) throw toUnknown(account);
  return { status: 202, body: JSON.stringify(await compareAccount(services, account)) };
});

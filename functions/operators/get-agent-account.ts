import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { getAgentAccountView } from '../../shared/runtime/http/dynamic-account-views.ts';
import { openAgentAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** GET /agents/kubernetes/accounts/{account}: an account that agents serve, with what they tell of its cluster. */
export const handler = apiHandler(openAgentAccounts, async function getAgentAccountByName(request, services) {
  return getAgentAccountView(request, services);
});

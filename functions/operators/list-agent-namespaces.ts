import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { listAgentNamespaces } from '../../shared/runtime/http/dynamic-account-views.ts';
import { openAgentAccountReads } from '../../shared/runtime/services/agent-accounts.ts';

/** GET /agents/kubernetes/accounts/{account}/namespaces: the namespaces of an account that agents serve. */
export const handler = apiHandler(openAgentAccountReads, async function listNamespaces(request, services) {
  return listAgentNamespaces(request, services);
});

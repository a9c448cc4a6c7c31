import { listAgents } from '../../shared/runtime/http/agent-views.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agents: the agents that have sessions. */
export const handler = apiHandler(openOperators, async function listConnectedAgents(request, services) {
  return listAgents(request, services);
});

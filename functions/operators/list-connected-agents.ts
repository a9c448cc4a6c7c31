import { listAgents } from '../../shared/runtime/http/agent-views.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agents: the agents that have sessions. */
export const handler = operatorHandler(openOperators, async function listConnectedAgents(request, services) {
  return listAgents(request, services);
});

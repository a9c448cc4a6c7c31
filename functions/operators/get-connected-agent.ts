import { getAgent } from '../../shared/runtime/http/agent-views.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agents/{agentId}: one of them. */
export const handler = operatorHandler(openOperators, async function getConnectedAgent(request, services) {
  return getAgent(request, services);
});

import { getAgent } from '../../shared/runtime/http/agent-views.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agents/{agentId}: one of them. */
export const handler = apiHandler(openOperators, async function getConnectedAgent(request, services) {
  return getAgent(request, services);
});

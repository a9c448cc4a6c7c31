import { disconnectAgent } from '../../shared/runtime/http/agent-orders.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/{agentId}/disconnect: ends the sessions of an agent. */
export const handler = apiHandler(openOperators, async function disconnectConnectedAgent(request, services) {
  return disconnectAgent(request, services);
});

import { disconnectAgent } from '../../shared/runtime/http/agent-orders.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/{agentId}/disconnect: ends the sessions of an agent. */
export const handler = operatorHandler(
  openOperators,
  async function disconnectConnectedAgent(request, services) {
    return disconnectAgent(request, services);
  },
);

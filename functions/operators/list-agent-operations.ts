import { listAgentOperations } from '../../shared/runtime/http/agent-operations.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agent/operations: what agents were to do in the last seven days. */
export const handler = operatorHandler(
  openOperators,
  async function listOperationsOfAgents(request, services) {
    return listAgentOperations(request, services);
  },
);

import { listAgentOperations } from '../../shared/runtime/http/agent-operations.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agent/operations: what agents were to do in the last seven days. */
export const handler = apiHandler(openOperators, async function listOperationsOfAgents(request, services) {
  return listAgentOperations(request, services);
});

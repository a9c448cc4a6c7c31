import { getAgentOperation } from '../../shared/runtime/http/agent-operations.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agent/operations/{opId}: one of them, by the id of its task. */
export const handler = apiHandler(openOperators, async function getOperationOfAgents(request, services) {
  return getAgentOperation(request, services);
});

import { getAgentOperation } from '../../shared/runtime/http/agent-operations.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /armory/agent/operations/{opId}: one of them, by the id of its task. */
export const handler = operatorHandler(openOperators, async function getOperationOfAgents(request, services) {
  return getAgentOperation(request, services);
});

import { offerOperations } from '../../shared/runtime/http/agent-orders.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/operations/database: has all agents ask for operations that nobody has begun. */
export const handler = apiHandler(openOperators, async function offerOperationsToAgents(_request, services) {
  return offerOperations(services);
});

import { offerOperations } from '../../shared/runtime/http/agent-orders.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/operations/database: has all agents ask for operations that nobody has begun. */
export const handler = operatorHandler(
  openOperators,
  async function offerOperationsToAgents(request, services) {
    return offerOperations(request, services);
  },
);

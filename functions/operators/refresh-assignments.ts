import { refreshAssignments } from '../../shared/runtime/http/agent-orders.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/assignments: has agents ask anew what they are granted. */
export const handler = operatorHandler(
  openOperators,
  async function refreshAgentAssignments(request, services) {
    return refreshAssignments(request, services);
  },
);

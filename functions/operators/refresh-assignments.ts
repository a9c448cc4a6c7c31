import { refreshAssignments } from '../../shared/runtime/http/agent-orders.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** POST /armory/agent/assignments: has agents ask anew what they are granted. */
export const handler = apiHandler(openOperators, async function refreshAgentAssignments(_request, services) {
  return refreshAssignments(services);
});

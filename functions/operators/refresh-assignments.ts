import { refreshAssignments } from '#agents/http/agent-orders.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** POST /armory/agent/assignments: has agents ask anew what they are granted. */
export const handler = operatorHandler(openOperators, refreshAssignments);

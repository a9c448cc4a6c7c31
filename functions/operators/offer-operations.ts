import { offerOperations } from '#agents/http/agent-orders.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** POST /armory/agent/operations/database: has all agents ask for operations that nobody has begun. */
export const handler = operatorHandler(openOperators, offerOperations);

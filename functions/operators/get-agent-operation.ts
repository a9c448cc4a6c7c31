import { getAgentOperation } from '#agents/http/agent-operations.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** GET /armory/agent/operations/{opId}: one of them, by the id of its task. */
export const handler = operatorHandler(openOperators, getAgentOperation);

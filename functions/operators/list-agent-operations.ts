import { listAgentOperations } from '#agents/http/agent-operations.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** GET /armory/agent/operations: what agents were to do in the last seven days. */
export const handler = operatorHandler(openOperators, listAgentOperations);

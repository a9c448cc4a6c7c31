import { disconnectAgent } from '#agents/http/agent-orders.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** POST /armory/agent/{agentId}/disconnect: ends the sessions of an agent. */
export const handler = operatorHandler(openOperators, disconnectAgent);

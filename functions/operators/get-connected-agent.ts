import { getAgent } from '#agents/http/agent-views.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** GET /armory/agents/{agentId}: one of them. */
export const handler = operatorHandler(openOperators, getAgent);

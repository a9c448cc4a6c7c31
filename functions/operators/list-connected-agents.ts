import { listAgents } from '#agents/http/agent-views.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** GET /armory/agents: the agents that have sessions. */
export const handler = operatorHandler(openOperators, listAgents);

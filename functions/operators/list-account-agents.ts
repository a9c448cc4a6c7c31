import { listAccountAgents } from '#agents/http/account-agents.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';

/** GET /agents: how the agents of all accounts are that have some. */
export const handler = operatorHandler(openOperators, listAccountAgents);

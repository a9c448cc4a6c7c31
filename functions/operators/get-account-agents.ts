import { getAccountAgents } from '#agents/http/account-agents.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';
import { ok } from '#http/api-handler.ts';

/** GET /credentials/{account}/agents: how the agents of an account are, and what became of them. */
export const handler = operatorHandler(openOperators, async function getAgentsOfAccount(request, services) {
  return ok(await getAccountAgents(request, services));
});

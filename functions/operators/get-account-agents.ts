import { getAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /credentials/{account}/agents: how the agents of an account are, and what became of them. */
export const handler = operatorHandler(openOperators, async function getAgentsOfAccount(request, services) {
  return ok(await getAccountAgents(request, services));
});

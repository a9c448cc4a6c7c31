import { changeAccountAgents } from '#agents/http/account-agents.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openOperators } from '#agents/services/operators.ts';
import { ok } from '#http/api-handler.ts';

/** PUT /credentials/{account}/agents: revokes the agents of an account, or lets them in again. */
export const handler = operatorHandler(
  openOperators,
  async function changeAgentsOfAccount(request, services) {
    return ok(await changeAccountAgents(request, services));
  },
);

import { changeAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** PUT /credentials/{account}/agents: revokes the agents of an account, or lets them in again. */
export const handler = operatorHandler(
  openOperators,
  async function changeAgentsOfAccount(request, services) {
    return ok(await changeAccountAgents(request, services));
  },
);

import { listAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openOperators } from '../../shared/runtime/services/operators.ts';

/** GET /agents: how the agents of all accounts are that have some. */
export const handler = operatorHandler(openOperators, async function listAgentsOfAccounts(request, services) {
  return listAccountAgents(request, services);
});

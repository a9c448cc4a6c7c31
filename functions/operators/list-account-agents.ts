import { listAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openAgentHub } from '../../shared/runtime/services/agent-hub.ts';

/** GET /agents: how the agents of all accounts are that have some. */
export const handler = operatorHandler(openAgentHub, async function listAgentsOfAccounts(request, hub) {
  return listAccountAgents(request, hub);
});

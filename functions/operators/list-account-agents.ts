import { listAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openAgentHub } from '../../shared/runtime/services/agent-hub.ts';

/** GET /agents: how the agents of all accounts are that have some. */
export const handler = apiHandler(openAgentHub, async function listAgentsOfAccounts(request, hub) {
  return listAccountAgents(request, hub);
});

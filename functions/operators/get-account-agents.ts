import { getAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openAgentHub } from '../../shared/runtime/services/agent-hub.ts';

/** GET /credentials/{account}/agents: how the agents of an account are, and what became of them. */
export const handler = operatorHandler(openAgentHub, async function getAgentsOfAccount(request, hub) {
  return ok(await getAccountAgents(request, hub));
});

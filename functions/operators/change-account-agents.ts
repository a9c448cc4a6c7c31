import { changeAccountAgents } from '../../shared/runtime/http/account-agents.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openAgentHub } from '../../shared/runtime/services/agent-hub.ts';

/** PUT /credentials/{account}/agents: revokes the agents of an account, or lets them in again. */
export const handler = operatorHandler(openAgentHub, async function changeAgentsOfAccount(request, hub) {
  return ok(await changeAccountAgents(request, hub));
});

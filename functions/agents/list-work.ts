import { agentHandlerOf } from '#agents/http/agent-handler.ts';
import { listWork, openAgentWork } from '#agents/http/agent-work.ts';
import { ok } from '#http/api-handler.ts';

/** GET /agent/v1/sessions/{session}/work: what there is to do for the accounts of a session. */
export const handler = agentHandlerOf(openAgentWork, async function listAgentWork(_request, hub, caller) {
  return ok(await listWork(hub, caller));
});

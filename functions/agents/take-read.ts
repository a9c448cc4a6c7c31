import { agentHandler, checkVersion } from '#agents/http/agent-handler.ts';
import { getAskedRead, takeRead } from '#agents/http/agent-read.ts';

/** POST /agent/v1/reads/{read}/lease: takes a live read that waits for an agent, and answers what is to be read. */
export const handler = agentHandler(async function takeAgentRead(request, hub, caller) {
  checkVersion(caller, hub);
  return takeRead(hub, await getAskedRead(request, hub, caller));
});

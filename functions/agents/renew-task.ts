import { agentHandler, getHeldTask } from '#agents/http/agent-handler.ts';
import { renewTask } from '#agents/http/agent-task.ts';
import { leaseSchema } from '#agents/protocol/messages.ts';
import { parseWith } from '#settings/coerce.ts';

/** PUT /agent/v1/tasks/{task}/lease: keeps the lease of a task for another while. */
export const handler = agentHandler(async function renewAgentTask(request, hub, caller) {
  const reference = parseWith(leaseSchema, request.parseJson(), '');
  return renewTask(hub, await getHeldTask(request, hub, caller), reference);
});

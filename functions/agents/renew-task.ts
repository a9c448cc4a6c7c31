import { leaseSchema } from '../../shared/agent-protocol/messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { agentHandler, getHeldTask } from '../../shared/runtime/http/agent-handler.ts';
import { renewTask } from '../../shared/runtime/http/agent-task.ts';

/** PUT /agent/v1/tasks/{task}/lease: keeps the lease of a task for another while. */
export const handler = agentHandler(async function renewAgentTask(request, hub, caller) {
  const reference = parseWith(leaseSchema, request.parseJson(), '');
  return renewTask(hub, await getHeldTask(request, hub, caller), reference);
});

import { commitSchema } from '../../shared/agent-protocol/messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { agentHandler, getHeldTask } from '../../shared/runtime/http/agent-handler.ts';
import { commitTask } from '../../shared/runtime/http/agent-task.ts';

/** POST /agent/v1/tasks/{task}/commits: stores what an agent did of a task, and what becomes of the task. */
export const handler = agentHandler(async function commitAgentTask(request, hub, caller) {
  const commit = parseWith(commitSchema, request.parseJson(), '');
  return commitTask(hub, await getHeldTask(request, hub, caller), commit);
});

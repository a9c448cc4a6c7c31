import { agentHandler, getHeldTask } from '#agents/http/agent-handler.ts';
import { commitTask } from '#agents/http/agent-task.ts';
import { commitSchema } from '#agents/protocol/messages.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/tasks/{task}/commits: stores what an agent did of a task, and what becomes of the task. */
export const handler = agentHandler(async function commitAgentTask(request, hub, caller) {
  const commit = parseWith(commitSchema, request.parseJson(), '');
  return commitTask(hub, await getHeldTask(request, hub, caller), commit);
});

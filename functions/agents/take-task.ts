import {
  agentHandler,
  checkVersion,
  getHeldTask,
  refuseFormat,
  refuseLease,
} from '#agents/http/agent-handler.ts';
import { takeSchema } from '#agents/protocol/messages.ts';
import { toLeasedTaskMessage } from '#agents/protocol/task-messages.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/tasks/{task}/lease: takes the lease of a task that waits for an agent, and answers the task. */
export const handler = agentHandler(async function takeAgentTask(request, hub, caller) {
  const { owner, attempts } = parseWith(takeSchema, request.parseJson(), '');
  checkVersion(caller, hub);
  const { id, hold } = await getHeldTask(request, hub, caller);
  const refused = refuseFormat({ hold }, { session: caller.session, clock: hub.clock });
  if (refused !== undefined) return refused;
  const { agentId, journalFormat } = caller.session;
  const ownerId = `${owner}@${agentId}`;
  const leased = await hub.store.takeLease(id, { ownerId, attempts, agentId, journalFormat });
  if (leased === undefined) return refuseLease(hub, id);
  // It was handed over since it was looked at: what follows is for others.
  if (leased.task.inbox?.account !== hold.inbox?.account) {
    await hub.store.commit(leased.lease, { entries: [], next: 'release' });
    return refuseLease(hub, id);
  }
  return ok(toLeasedTaskMessage(leased, await leased.readOperations()));
});

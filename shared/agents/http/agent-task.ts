import { TooLargeError } from '#core/errors.ts';
import { type ApiResponse, ok } from '#http/api-handler.ts';
import { sendForTask } from '#tasks/operation-queue.ts';
import { settleTask } from '#tasks/process-message.ts';
import { isFinished, type Lease, LeaseLostError, TaskCancelledError } from '#tasks/task.ts';
import { type CommitMessage, commitsMax, type LeaseReference } from '../protocol/messages.ts';
import { parseEntries } from '../protocol/task-messages.ts';
import type { AgentHub } from '../services/agent-hub.ts';
import { type HeldTask, refuseLease } from './agent-handler.ts';

/** Answers the renewal of a lease: 204, or 409 where it is lost. */
export async function renewTask(
  hub: AgentHub,
  task: HeldTask,
  reference: LeaseReference,
): Promise<ApiResponse> {
  return unlessLost(hub, task.id, async () => {
    await hub.store.renewLease(toLease(task, reference));
    return { status: 204, body: '' };
  });
}

/**
 * Answers a commit: the lease as it is then, or 409 where it is lost. The consequences of a task's end are done here: its events, and its
 * rows. One that was made, and whose answer was lost, is answered again.
 *
 * @throws InvalidInputError for entries that are none; TooLargeError for one commit too many
 */
export async function commitTask(
  hub: AgentHub,
  task: HeldTask,
  message: CommitMessage,
): Promise<ApiResponse> {
  const { next, lookSeconds } = message;
  const entries = parseEntries(message, task.hold);
  if (task.hold.entries >= commitsMax && next === 'hold') {
    throw new TooLargeError(`Task ${task.id} has ${commitsMax} commits, and may have no more`);
  }
  return unlessLost(hub, task.id, async () => {
    const lease = toLease(task, message.lease);
    await hub.store.commit(lease, { entries, next, ...(lookSeconds !== undefined && { lookSeconds }) });
    if (next === 'COMPLETED' || next === 'FAILED') {
      hub.meter?.record('tasks', { success: String(next === 'COMPLETED') });
      await settle(hub, task.id);
    } else if (next === 'handover') await handOver(hub, task.id);
    else if (next !== 'hold' && next !== 'wait') await handOn(hub, task);
    const { fence, sequence } = lease;
    return ok<LeaseReference>({ fence, sequence });
  });
}

/** Another agent may go on at once. */
async function handOn({ hints }: AgentHub, { id, hold }: HeldTask): Promise<void> {
  if (hold.inbox !== undefined) await hints?.send({ kind: 'TASK', account: hold.inbox.account, id });
}

/** Notifies the next worker: another account's agents, or a worker of the queue. If this fails, the sweeper does it. */
async function handOver(hub: AgentHub, id: string): Promise<void> {
  try {
    const task = await hub.store.find(id);
    if (task !== undefined && !isFinished(task)) await sendForTask(hub, task);
  } catch (error) {
    hub.log.warn('a task was handed over, and its next worker could not be notified', { taskId: id, error });
  }
}

/** Off the agent's path, as far as that goes: what fails here is done by the sweeper. */
async function settle(hub: AgentHub, id: string): Promise<void> {
  const ended = await hub.store.find(id).catch(() => undefined);
  if (ended !== undefined) await settleTask(hub, ended);
}

/** Of a lease only its numbers count, which the store holds against its own; how long it holds is the agent's matter. */
function toLease({ id, hold }: HeldTask, { fence, sequence }: LeaseReference): Lease {
  return { taskId: id, fence, sequence, inlineBytes: hold.inlineBytes, validUntil: 0 };
}

async function unlessLost(
  hub: AgentHub,
  taskId: string,
  act: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    if (error instanceof TaskCancelledError) await settleTask(hub, error.task);
    return refuseLease(hub, taskId);
  }
}

import { UnavailableError } from '../../core/errors.ts';
import type { TaskHint } from '../../core/tasks/operation-queue.ts';
import { processHint } from '../../core/tasks/process-hint.ts';
import { addLogFields } from '../context/logger.ts';
import { findNewerContext, type ProviderContext } from '../context/provider-context.ts';
import type { TaskContext } from '../context/task-context.ts';
import type { QueueMessage } from './queue-handler.ts';

/**
 * Runs the task that a message names, to its end with the providers that were in force at its beginning, unless one of its
 * operations names an account that is newer than they are.
 *
 * Without usable settings the message is given up and the task is not touched: no attempt is counted, and the sweeper sends a
 * hint each minute for as long as the task is open.
 *
 * @param open opens the context with the providers: named by the function, as all that its grants follow from
 * @returns the account of the task; undefined when it was not for this worker to run.
 */
export async function runOperationsTask(
  message: QueueMessage<TaskHint>,
  tasks: TaskContext,
  open: () => Promise<ProviderContext>,
): Promise<string | undefined> {
  const opened = await open().catch((error: unknown) => leaveToSweeper(error, tasks));
  if (opened === undefined) return undefined;
  let context = opened;
  let leased: string | undefined;
  await processHint(tasks, message, {
    findOperation: (provider, name) => context.providers.findOperation(provider, name),
    async renewOperations() {
      const newer = await findNewerContext(context);
      context = newer ?? context;
      return newer !== undefined;
    },
    onLeased({ account, caller }) {
      leased = account;
      addLogFields({ account, ...caller });
    },
    stop: message.stop,
  });
  return leased;
}

function leaveToSweeper(error: unknown, { log }: TaskContext): undefined {
  if (!(error instanceof UnavailableError)) throw error;
  log.warn('a task waits for settings that can be used', { reason: error.message });
}

import { UnavailableError } from '../core/errors.ts';
import { processHint } from '../core/process-hint.ts';
import { findNewerContext, openProviderContext, type ProviderContext } from './provider-context.ts';
import type { QueueMessage } from './queue-handler.ts';
import type { TaskContext } from './task-context.ts';

/**
 * Runs the task that a message names, to its end with the providers that were in force at its beginning, unless one of its
 * operations names an account that is newer than they are.
 *
 * Without usable settings the message is given up and the task is not touched: no attempt is counted, and the sweeper sends a
 * hint each minute for as long as the task is open.
 */
export async function runOperationsTask(message: QueueMessage, tasks: TaskContext): Promise<void> {
  const opened = await findProviderContext(tasks);
  if (opened === undefined) return;
  let context = opened;
  await processHint(tasks, message, {
    findOperation: (provider, name) => context.providers.findOperation(provider, name),
    async renewOperations() {
      const newer = await findNewerContext(context);
      context = newer ?? context;
      return newer !== undefined;
    },
    stop: message.stop,
  });
}

async function findProviderContext({ log }: TaskContext): Promise<ProviderContext | undefined> {
  try {
    return await openProviderContext();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    log.warn('a task waits for settings that can be used', { reason: error.message });
    return undefined;
  }
}

import { clusterWaitSecondsDefault, parseClusterWaitMs } from '#agents/cluster-wait.ts';
import { getErrorMessage, UnavailableError } from '#core/errors.ts';
import type { QueueMessage } from '#http/events/queue-handler.ts';
import { addLogFields } from '#platform/services/logger.ts';
import { findNewerProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import type { TaskMessage } from '../operation-queue.ts';
import { processTaskMessage } from '../process-message.ts';
import type { TaskServices } from '../services/tasks.ts';

/**
 * Runs the task of a message to its end, with the providers in force at its beginning, unless one of its operations names an account that
 * is newer than they are.
 *
 * Without usable settings it gives up the message and leaves the task alone: no attempt is counted, and the sweeper sends a message each
 * minute while the task is open.
 *
 * @param open opens the providers: a parameter of each function, since its grants follow from it
 * @returns the account of the task; undefined when this worker did not run it.
 */
export async function runOperationsTask(
  message: QueueMessage<TaskMessage>,
  tasks: TaskServices,
  open: () => Promise<ProviderServices>,
): Promise<string | undefined> {
  const opened = await open().catch((error: unknown) => leaveToSweeper(error, tasks));
  if (opened === undefined) return undefined;
  let services = opened;
  let leased: string | undefined;
  await processTaskMessage(tasks, message, {
    findOperation: (...asked) => services.providers.findOperation(...asked),
    async renewOperations() {
      const newer = await findNewerProviders(services);
      services = newer ?? services;
      return newer !== undefined;
    },
    clusters: {
      isReachable: (account) => services.providers.isReachable(account),
      waitMs: findClusterWaitMs(opened),
    },
    onLeased({ account, caller }) {
      leased = account;
      addLogFields({ account, ...caller });
    },
    stop: message.stop,
  });
  return leased;
}

function leaveToSweeper(error: unknown, { log }: TaskServices): undefined {
  if (!(error instanceof UnavailableError)) throw error;
  log.warn('a task waits for settings that can be used', { reason: error.message });
}

/** A wrong number of seconds does not fail operations. */
function findClusterWaitMs({ settings, log }: ProviderServices): number {
  try {
    return parseClusterWaitMs(settings);
  } catch (error) {
    log.warn('setting of no effect', { reason: getErrorMessage(error) });
    return clusterWaitSecondsDefault * 1_000;
  }
}

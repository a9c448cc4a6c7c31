import { taskHints } from '../../shared/runtime/message-kinds.ts';
import { runOperationsTask } from '../../shared/runtime/operations-worker.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';
import { openTaskContext } from '../../shared/runtime/task-context.ts';

/** Queue `operations`: runs the task that each message names. */
export const handler = queueHandler(
  taskHints,
  openTaskContext,
  async function runOperations(message, context) {
    await runOperationsTask(message, context, openProviderContext);
  },
);

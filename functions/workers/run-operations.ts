import { noteUse } from '../../shared/core/agents/note-use.ts';
import { openCacheContext } from '../../shared/runtime/context/cache-context.ts';
import { openProviderContext } from '../../shared/runtime/context/provider-context.ts';
import { openTaskWorkContext } from '../../shared/runtime/context/task-context.ts';
import { taskHints } from '../../shared/runtime/events/message-kinds.ts';
import { runOperationsTask } from '../../shared/runtime/events/operations-worker.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';

/** Queue `operations`: runs the task that each message names, and lets its account's cache be kept up to date from then on. */
export const handler = queueHandler(
  taskHints,
  openTaskWorkContext,
  async function runOperations(message, context) {
    const account = await runOperationsTask(message, context, openProviderContext);
    if (account !== undefined) await noteUse(openCacheContext('request'), [account]);
  },
);

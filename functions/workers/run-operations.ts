import { noteUse } from '../../shared/core/agents/note-use.ts';
import { openCacheContext } from '../../shared/runtime/cache-context.ts';
import { taskHints } from '../../shared/runtime/message-kinds.ts';
import { runOperationsTask } from '../../shared/runtime/operations-worker.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';
import { openTaskWorkContext } from '../../shared/runtime/task-context.ts';

/** Queue `operations`: runs the task that each message names, and lets its account's cache be kept up to date from then on. */
export const handler = queueHandler(
  taskHints,
  openTaskWorkContext,
  async function runOperations(message, context) {
    const account = await runOperationsTask(message, context, openProviderContext);
    if (account !== undefined) await noteUse(openCacheContext('request'), [account]);
  },
);

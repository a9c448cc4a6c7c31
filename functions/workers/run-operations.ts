import { touchAccounts } from '../../shared/core/agents/touch-accounts.ts';
import { taskMessages } from '../../shared/runtime/events/message-kinds.ts';
import { runOperationsTask } from '../../shared/runtime/events/operations-worker.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { openCache } from '../../shared/runtime/services/cache.ts';
import { openProviders } from '../../shared/runtime/services/providers.ts';
import { openWorkTasks } from '../../shared/runtime/services/tasks.ts';

/** Queue `operations`: runs the task that each message names, and lets its account's cache be kept up to date from then on. */
export const handler = queueHandler(
  taskMessages,
  openWorkTasks,
  async function runOperations(message, services) {
    const account = await runOperationsTask(message, services, () => openProviders(services.all));
    if (account !== undefined) await touchAccounts(openCache(services.all, 'request'), [account]);
  },
);

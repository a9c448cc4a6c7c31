import { touchAccounts } from '#caching/scheduling/touch-accounts.ts';
import { openCache } from '#caching/services/cache.ts';
import { taskMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { runOperationsTask } from '#tasks/events/operations-worker.ts';
import { openWorkTasks } from '#tasks/services/tasks.ts';

/** Queue `operations`: runs the task that each message names, and lets its account's cache be kept up to date from then on. */
export const handler = queueHandler(
  taskMessages,
  openWorkTasks,
  async function runOperations(message, services) {
    const account = await runOperationsTask(message, services, () => openProviders(services.all));
    if (account !== undefined) await touchAccounts(openCache(services.all, 'request'), [account]);
  },
);

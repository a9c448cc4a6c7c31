import { tellDeadLetter } from '#http/events/dead-letters.ts';
import { taskMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';
import { openWorkTasks } from '#tasks/services/tasks.ts';
import { settleDeadLetter } from '#tasks/sweep-tasks.ts';

/** Queue `operations-dead-letters`: fails tasks that no worker could run; others stay open for the sweeper. */
export const handler = queueHandler(
  taskMessages,
  openWorkTasks,
  async function settleDeadLetters(message, services) {
    const { taskId, deliveries } = message;
    tellDeadLetter(services, await settleDeadLetter(services, taskId, deliveries), { deliveries });
  },
);

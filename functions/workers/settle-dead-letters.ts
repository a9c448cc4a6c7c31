import { settleDeadLetter } from '../../shared/core/tasks/sweep-tasks.ts';
import { tellDeadLetter } from '../../shared/runtime/events/dead-letters.ts';
import { taskMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { openWorkTasks } from '../../shared/runtime/services/tasks.ts';

/** Queue `operations-dead-letters`: fails tasks that no worker could run; others stay open for the sweeper. */
export const handler = queueHandler(
  taskMessages,
  openWorkTasks,
  async function settleDeadLetters(message, services) {
    const { taskId, deliveries } = message;
    tellDeadLetter(services, await settleDeadLetter(services, taskId, deliveries), { deliveries });
  },
);

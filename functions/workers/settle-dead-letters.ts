import { settleDeadLetter } from '../../shared/core/tasks/sweep-tasks.ts';
import { openTaskWorkContext } from '../../shared/runtime/context/task-context.ts';
import { tellDeadLetter } from '../../shared/runtime/events/dead-letters.ts';
import { taskHints } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';

/** Queue `operations-dead-letters`: fails tasks that no worker could run; others stay open for the sweeper. */
export const handler = queueHandler(
  taskHints,
  openTaskWorkContext,
  async function settleDeadLetters(message, context) {
    const { taskId, deliveries } = message;
    tellDeadLetter(context, await settleDeadLetter(context, taskId, deliveries), { deliveries });
  },
);

import { settleDeadLetter } from '../../shared/core/tasks/sweep-tasks.ts';
import { tellDeadLetter } from '../../shared/runtime/dead-letters.ts';
import { taskHints } from '../../shared/runtime/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';
import { openTaskWorkContext } from '../../shared/runtime/task-context.ts';

/** Queue `operations-dead-letters`: fails tasks that no worker could run; others stay open for the sweeper. */
export const handler = queueHandler(
  taskHints,
  openTaskWorkContext,
  async function settleDeadLetters(message, context) {
    const { taskId, deliveries } = message;
    tellDeadLetter(context, await settleDeadLetter(context, taskId, deliveries), { deliveries });
  },
);

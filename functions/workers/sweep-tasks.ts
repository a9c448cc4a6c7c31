import { sweepTasks } from '../../shared/core/sweep-tasks.ts';
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts';
import { openTaskContext } from '../../shared/runtime/task-context.ts';

/** Schedule `sweep-tasks`: hints open tasks again, and ends what a worker left unfinished after completion. */
export const handler = scheduleHandler(openTaskContext, async function sweepOpenTasks(context) {
  const report = await sweepTasks(context);
  if (Object.values(report).some((count) => count > 0)) context.log.info('swept open tasks', { ...report });
});

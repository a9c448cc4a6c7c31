import { type SweepPosition, sweepTasks } from '../../shared/core/tasks/sweep-tasks.ts';
import { openTaskWorkContext } from '../../shared/runtime/context/task-context.ts';
import { scheduleHandler } from '../../shared/runtime/events/schedule-handler.ts';

/** Where a sweep of this process stopped that ran out of time. */
const position: SweepPosition = {};

/** Schedule `sweep-tasks`: hints open tasks again, and ends what a worker left unfinished after completion. */
export const handler = scheduleHandler(openTaskWorkContext, async function sweepOpenTasks(context) {
  const report = await sweepTasks(context, position);
  if (Object.values(report).some((count) => count > 0)) context.log.info('swept open tasks', { ...report });
});

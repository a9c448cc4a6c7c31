import { type SweepCursor, sweepTasks } from '../../shared/core/tasks/sweep-tasks.ts';
import { scheduleHandler } from '../../shared/runtime/events/schedule-handler.ts';
import { openWorkTasks } from '../../shared/runtime/services/tasks.ts';

/** Schedule `sweep-tasks`: sends messages for open tasks again, and ends what a worker left unfinished after completion. */
export const handler = scheduleHandler(openWorkTasks, async function sweepOpenTasks(services) {
  const report = await sweepTasks(services, services.all.get(createCursor));
  if (Object.values(report).some((count) => count > 0)) services.log.info('swept open tasks', { ...report });
});

/** Where a sweep stopped that ran out of time: the next one of the installation in this process goes on there. */
function createCursor(): SweepCursor {
  return {};
}

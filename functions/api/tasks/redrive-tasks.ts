import type { RedriveView } from '#contract/answers/tasks.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { redriveTasks } from '#tasks/sweep-tasks.ts';

/** POST /tasks/redrive: sends for all open tasks now, those of dead letters too, instead of with the next sweep. */
export const handler = apiHandler(openTasks, async function redriveOpenTasks(_request, services) {
  return ok<RedriveView>(await redriveTasks(services));
});

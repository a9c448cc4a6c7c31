import { apiHandler, okText } from '#http/api-handler.ts';
import { getNumber } from '#http/query-number.ts';
import { awaitEnd, getTask, waitSecondsMax } from '#tasks/get-task.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { toTaskView } from '#tasks/task-view.ts';

/** GET /task/{id}: the task with its history and results, as Orca polls it; with `waitSeconds` once it has ended, or that time is over. */
export const handler = apiHandler(openTasks, async function getTaskById(request, services) {
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  const seconds = getNumber(request, 'waitSeconds', { min: 0, max: waitSecondsMax, otherwise: 0 });
  const ended = await awaitEnd(services, task, { seconds, signal: request.signal });
  return okText(toTaskView(ended, services.clock.now()));
});

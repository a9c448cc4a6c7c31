import { apiHandler, okText } from '#http/api-handler.ts';
import { failTask, parseRetry } from '#tasks/fail-task.ts';
import { getTask } from '#tasks/get-task.ts';
import { checkTaskProvider } from '#tasks/http/task-provider.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { toTaskView } from '#tasks/task-view.ts';

/** PATCH /{cloudProvider}/task/{id}: `{"retry": true}` fails a task, retryable or not, and stops its worker. */
export const handler = apiHandler(openTasks, async function updateTask(request, services) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const retryable = parseRetry(request.parseJson());
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(await failTask(services, task, { retryable }), services.clock.now()));
});

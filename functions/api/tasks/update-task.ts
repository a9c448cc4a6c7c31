import { failTask, parseRetry } from '../../../shared/core/tasks/fail-task.ts';
import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';
import { checkTaskProvider } from '../../../shared/runtime/http/task-provider.ts';
import { openTasks } from '../../../shared/runtime/services/tasks.ts';

/** PATCH /{cloudProvider}/task/{id}: `{"retry": true}` fails a task, retryable or not, and stops its worker. */
export const handler = apiHandler(openTasks, async function updateTask(request, services) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const retryable = parseRetry(request.parseJson());
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(await failTask(services, task, { retryable })));
});

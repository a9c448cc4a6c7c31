import { failTask, parseRetry } from '../../../shared/core/tasks/fail-task.ts';
import { checkTaskProvider, getTask } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { openTaskContext } from '../../../shared/runtime/context/task-context.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';

/** PATCH /{cloudProvider}/task/{id}: `{"retry": true}` fails a task, retryable or not, and stops its worker. */
export const handler = apiHandler(openTaskContext, async function updateTask(request, context) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const retryable = parseRetry(request.parseJson());
  const task = await getTask(context.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(await failTask(context, task, { retryable })));
});

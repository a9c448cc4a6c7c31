import { failTask } from '../../../shared/core/fail-task.ts';
import { checkTaskProvider } from '../../../shared/core/get-task.ts';
import { toTaskView } from '../../../shared/core/task-view.ts';
import { apiHandler, okText } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** PATCH /{cloudProvider}/task/{id}: `{"retry": true}` fails a task, retryable or not, and stops its worker. */
export const handler = apiHandler(openTaskContext, async function updateTask(request, context) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  return okText(toTaskView(await failTask(context, request.getParameter('id'), request.parseJson())));
});

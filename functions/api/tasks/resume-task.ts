import { MethodNotAllowedError } from '#core/errors.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { getTask } from '#tasks/get-task.ts';
import { toTaskReference } from '#tasks/http/task-reference.ts';
import { restartTask } from '#tasks/requests/accept-operations.ts';
import { openTasks } from '#tasks/services/tasks.ts';

const suffix = ':resume';

/**
 * POST /task/{id}: Spinnaker's `POST /task/{id}:resume`, which runs a failed, retryable task again with its own operations. API
 * Gateway allows no text beside a variable, so the suffix is matched here.
 */
export const handler = apiHandler(openTasks, async function resumeTask(request, services) {
  const id = request.getParameter('id');
  if (!id.endsWith(suffix)) throw new MethodNotAllowedError('POST', ['GET', 'DELETE']);
  const task = await getTask(services.store, id.slice(0, -suffix.length));
  request.access.checkTask(task);
  return ok(toTaskReference(await restartTask(services, task)));
});

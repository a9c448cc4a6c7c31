import { MethodNotAllowedError } from '../../../shared/core/errors.ts';
import { restartTask } from '../../../shared/core/providers/accept-operations.ts';
import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { toTaskReference } from '../../../shared/runtime/http/task-reference.ts';
import { openTasks } from '../../../shared/runtime/services/tasks.ts';

const suffix = ':resume';

/**
 * POST /task/{id}: Spinnaker's `POST /task/{id}:resume`, which runs a failed, retryable task again with its own operations. API
 * Gateway allows no text beside a variable, so the suffix is matched here.
 */
export const handler = apiHandler(openTasks, async function resumeTask(request, services) {
  const id = request.getParameter('id');
  if (!id.endsWith(suffix)) throw new MethodNotAllowedError('POST', ['GET']);
  const task = await getTask(services.store, id.slice(0, -suffix.length));
  request.access.checkTask(task);
  return ok(toTaskReference(await restartTask(services, task)));
});

import { MethodNotAllowedError } from '../../../shared/core/errors.ts';
import { restartTask } from '../../../shared/core/providers/accept-operations.ts';
import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { openTaskContext } from '../../../shared/runtime/context/task-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { toTaskReference } from '../../../shared/runtime/http/task-reference.ts';

const suffix = ':resume';

/**
 * POST /task/{id}: Spinnaker's `POST /task/{id}:resume`, which runs a failed, retryable task again with its own operations. API
 * Gateway allows no text beside a variable, so the suffix is matched here.
 */
export const handler = apiHandler(openTaskContext, async function resumeTask(request, context) {
  const id = request.getParameter('id');
  if (!id.endsWith(suffix)) throw new MethodNotAllowedError('POST', ['GET']);
  const task = await getTask(context.store, id.slice(0, -suffix.length));
  request.access.checkTask(task);
  return ok(toTaskReference(await restartTask(context, task)));
});

import { acceptOperations, checkOperations, restartTask } from '../core/accept-operations.ts';
import { InvalidInputError } from '../core/errors.ts';
import { getTask } from '../core/get-task.ts';
import type { JsonValue } from '../core/json.ts';
import { type ApiRequest, type ApiResponse, ok } from './api-handler.ts';
import type { OperationsContext } from './operations-context.ts';
import { findNewerContext } from './provider-context.ts';
import { toTaskReference } from './task-reference.ts';

/** What routes that take operations differ in: where the operations stand. */
interface OperationsBody {
  readonly body: JsonValue;
  readonly cloudProvider: string | undefined;
}

/** Answers a request for operations. */
export async function startOperations(
  request: ApiRequest,
  context: OperationsContext,
  operations: OperationsBody,
): Promise<ApiResponse> {
  return withNewestSettings(context, async (current) => {
    const task = await acceptOperations(current, current.providers, {
      ...operations,
      clientRequestId: request.findQuery('clientRequestId') ?? '',
      caller: request.caller,
      rights: request.access.getRights(current.providers),
    });
    return ok(toTaskReference(task));
  });
}

/** Answers a request to start a task again with other operations, which are held to the same rules as those of a new task. */
export async function restartOperations(
  request: ApiRequest,
  context: OperationsContext,
  { id, ...operations }: OperationsBody & { readonly id: string },
): Promise<ApiResponse> {
  return withNewestSettings(context, async (current) => {
    const rights = request.access.getRights(current.providers);
    const checked = checkOperations(current.providers, { ...operations, rights });
    const task = await getTask(current.store, id);
    request.access.checkTask(task);
    return ok(toTaskReference(await restartTask(current, task, checked)));
  });
}

/** A request that is refused may name an account that is new: it is looked at again with newer settings. */
async function withNewestSettings(
  context: OperationsContext,
  answer: (current: OperationsContext) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    return await answer(context);
  } catch (error) {
    const newer = error instanceof InvalidInputError ? await findNewerContext(context) : undefined;
    if (newer === undefined) throw error;
    return answer({ ...context, ...newer });
  }
}

import { acceptOperations } from '../core/accept-operations.ts';
import type { JsonValue } from '../core/json.ts';
import type { Task } from '../core/task.ts';
import { type ApiRequest, type ApiResponse, ok } from './api-handler.ts';
import type { OperationsContext } from './operations-context.ts';

/** Answers a request for operations: the one thing in which the routes that take them differ is where operations stand. */
export async function startOperations(
  request: ApiRequest,
  context: OperationsContext,
  { body, cloudProvider }: { body: JsonValue; cloudProvider: string | undefined },
): Promise<ApiResponse> {
  const accounts = request.findHeader('x-spinnaker-accounts');
  const task = await acceptOperations(context, context.providers, {
    body,
    cloudProvider,
    clientRequestId: request.findQuery('clientRequestId') ?? '',
    caller: request.caller,
    allowedAccounts: accounts?.split(',').map((name) => name.trim()),
  });
  return ok(toTaskReference(task));
}

/** What starting a task answers. */
export function toTaskReference(task: Pick<Task, 'id'>): { id: string; resourceUri: string } {
  return { id: task.id, resourceUri: `/task/${task.id}` };
}

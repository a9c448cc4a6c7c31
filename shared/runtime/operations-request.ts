import { acceptOperations } from '../core/accept-operations.ts';
import { InvalidInputError } from '../core/errors.ts';
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

/** Answers a request for operations. One that is refused may name an account that is new: it is looked at with newer settings. */
export async function startOperations(
  request: ApiRequest,
  context: OperationsContext,
  operations: OperationsBody,
): Promise<ApiResponse> {
  try {
    return await accept(request, context, operations);
  } catch (error) {
    const newer = error instanceof InvalidInputError ? await findNewerContext(context) : undefined;
    if (newer === undefined) throw error;
    return accept(request, { ...context, ...newer }, operations);
  }
}

async function accept(
  request: ApiRequest,
  context: OperationsContext,
  { body, cloudProvider }: OperationsBody,
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

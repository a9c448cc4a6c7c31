import { openProviderContext, type ProviderContext } from './provider-context.ts';
import { openTaskContext, type TaskContext } from './task-context.ts';

/** What functions that accept or run operations work with: tasks and providers. */
export interface OperationsContext extends TaskContext, ProviderContext {}

/** A context made of the two others. @throws UnavailableError as `openProviderContext` does. */
export async function openOperationsContext(): Promise<OperationsContext> {
  return { ...openTaskContext(), ...(await openProviderContext()) };
}

import { openProviderContext, type ProviderContext } from './provider-context.ts';
import { openTaskContext, type TaskContext } from './task-context.ts';

/** What functions that accept or run operations work with: tasks and providers. */
export interface OperationsContext extends TaskContext, ProviderContext {}

/** The context of this process, made of the two shared ones. */
export async function openOperationsContext(): Promise<OperationsContext> {
  return { ...openTaskContext(), ...(await openProviderContext()) };
}

import type { Services } from '#platform/services/services.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import { openTasks, type TaskServices } from './tasks.ts';

/** What functions that accept or run operations work with: tasks and providers. */
export interface OperationsServices extends TaskServices, ProviderServices {}

/** Opens both. @throws UnavailableError as `openProviders` does. */
export async function openOperations(services: Services): Promise<OperationsServices> {
  return { ...openTasks(services), ...(await openProviders(services)) };
}

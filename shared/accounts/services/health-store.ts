import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { createHealthStore } from '../aws/health-store.ts';
import type { AccountHealthStore } from '../model/account-health.ts';

/** Where an installation stores the health of its accounts. */
export function openHealthStore(services: Services): AccountHealthStore {
  return services.get(createStore);
}

function createStore(services: Services): AccountHealthStore {
  return createHealthStore(openTable(services, 'cache'));
}

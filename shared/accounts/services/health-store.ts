import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoHealthStore } from '../aws/health-store.ts';
import type { AccountHealthStore } from '../model/account-health.ts';

/** Where an installation stores the health of its accounts. */
export function openHealthStore(services: Services): AccountHealthStore {
  return services.get(createHealthStore);
}

function createHealthStore(services: Services): AccountHealthStore {
  return new DynamoHealthStore(openTable(services, 'cache'));
}

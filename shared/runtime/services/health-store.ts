import { DynamoHealthStore } from '../../aws/accounts/health-store.ts';
import { ItemTable } from '../../aws/table.ts';
import type { AccountHealthStore } from '../../core/providers/account-health.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** Where an installation keeps how its accounts are. */
export function openHealthStore(services: Services): AccountHealthStore {
  return services.get(createHealthStore);
}

function createHealthStore(services: Services): AccountHealthStore {
  const { config, clock } = openBase(services);
  return new DynamoHealthStore({
    table: new ItemTable(openDocuments(services, 'request'), config.cacheTable),
    clock,
  });
}

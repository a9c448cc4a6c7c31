import { ItemTable } from '#platform/aws/table.ts';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoDiscoveryStore } from '../aws/discovery-store.ts';
import type { DiscoveryStore } from '../discovery-store.ts';

/** Where an installation shares what API servers serve. */
export function openDiscoveryStore(services: Services): DiscoveryStore {
  return services.get(createDiscoveryStore);
}

function createDiscoveryStore(services: Services): DiscoveryStore {
  const { config, clock } = openBase(services);
  return new DynamoDiscoveryStore({
    table: new ItemTable(openDocuments(services, 'request'), config.cacheTable),
    clock,
  });
}

import { DynamoDiscoveryStore } from '../../aws/cache/discovery-store.ts';
import { ItemTable } from '../../aws/table.ts';
import type { DiscoveryStore } from '../../core/providers/discovery-store.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

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

import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoDiscoveryStore } from '../aws/discovery-store.ts';
import type { DiscoveryStore } from '../discovery-store.ts';

/** Where an installation shares what API servers serve. */
export function openDiscoveryStore(services: Services): DiscoveryStore {
  return services.get(createDiscoveryStore);
}

function createDiscoveryStore(services: Services): DiscoveryStore {
  return new DynamoDiscoveryStore(openTable(services, 'cache'));
}

import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { createDiscoveryStore } from '../aws/discovery-store.ts';
import type { DiscoveryStore } from '../discovery-store.ts';

/** Where an installation shares what API servers serve. */
export function openDiscoveryStore(services: Services): DiscoveryStore {
  return services.get(createStore);
}

function createStore(services: Services): DiscoveryStore {
  return createDiscoveryStore(openTable(services, 'cache'));
}

import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoLiveReadStore } from '../aws/live-read-store.ts';
import type { LiveReadStore } from '../live-read.ts';

/** The reads that wait for agents. */
export function openLiveReads(services: Services): LiveReadStore {
  return services.get(createLiveReads);
}

function createLiveReads(services: Services): LiveReadStore {
  return new DynamoLiveReadStore(openTable(services, 'tasks'));
}

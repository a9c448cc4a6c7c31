import { ItemTable } from '#platform/aws/table.ts';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoLiveReadStore } from '../aws/live-read-store.ts';
import type { LiveReadStore } from '../live-read.ts';

/** The reads that wait for agents. */
export function openLiveReads(services: Services): LiveReadStore {
  return services.get(createLiveReads);
}

function createLiveReads(services: Services): LiveReadStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoLiveReadStore({ table, clock });
}

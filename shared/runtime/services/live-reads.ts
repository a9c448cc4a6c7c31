import { ItemTable } from '../../aws/table.ts';
import { DynamoLiveReadStore } from '../../aws/tasks/live-read-store.ts';
import type { LiveReadStore } from '../../core/tasks/live-read.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** The reads that wait for agents. */
export function openLiveReads(services: Services): LiveReadStore {
  return services.get(createLiveReads);
}

function createLiveReads(services: Services): LiveReadStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoLiveReadStore({ table, clock });
}

import { ItemTable } from '../../aws/table.ts';
import { DynamoInboxStore } from '../../aws/tasks/inbox-store.ts';
import type { InboxStore } from '../../core/tasks/task-inbox.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** The tasks that wait for agents. */
export function openInboxes(services: Services): InboxStore {
  return services.get(createInboxes);
}

function createInboxes(services: Services): InboxStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoInboxStore({ table, clock });
}

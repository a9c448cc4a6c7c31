import { ItemTable } from '#platform/aws/table.ts';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoInboxStore } from '#tasks/aws/inbox-store.ts';
import type { InboxStore } from '#tasks/task-inbox.ts';

/** The tasks that wait for agents. */
export function openInboxes(services: Services): InboxStore {
  return services.get(createInboxes);
}

function createInboxes(services: Services): InboxStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoInboxStore({ table, clock });
}

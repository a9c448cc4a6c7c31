import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { createInboxStore } from '#tasks/aws/inbox-store.ts';
import type { InboxStore } from '#tasks/task-inbox.ts';

/** The tasks that wait for agents. */
export function openInboxes(services: Services): InboxStore {
  return services.get(createInboxes);
}

function createInboxes(services: Services): InboxStore {
  return createInboxStore(openTable(services, 'tasks'));
}

import { ItemTable } from '../../aws/table.ts';
import { DynamoConnectionStore } from '../../aws/tasks/connection-store.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import {
  accountConnectionsMax,
  type ConnectionStore,
  chooseConnections,
  type Hint,
} from '../../core/tasks/agent-connections.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { HintPort } from './hint-port.ts';
import type { Services } from './services.ts';

/** The table of connections. */
export function openConnections(services: Services): ConnectionStore {
  return services.get(createConnections);
}

/** Tells the connections of the table that a hint is meant for, and forgets those that are gone. */
export async function postHint(
  services: Services,
  hint: Hint,
  post: NonNullable<HintPort['post']>,
): Promise<void> {
  const connections = openConnections(services);
  const told = chooseConnections(await connections.list(hint.account), hint);
  await forEachConcurrently(told, accountConnectionsMax, async (connection) => {
    if ((await post(connection, hint)) === 'gone') await connections.remove(connection);
  });
}

function createConnections(services: Services): ConnectionStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoConnectionStore({ table, clock, sessions: openAgentSessions(services) });
}

import { forEachConcurrently } from '#core/concurrency.ts';
import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import {
  accountConnectionsMax,
  type ConnectionStore,
  chooseConnections,
  type Hint,
} from '../agent-connections.ts';
import { createConnectionStore } from '../aws/connection-store.ts';
import { openAgentSessions } from './agent-sessions.ts';
import type { HintPort } from './hint-port.ts';

/** The table of connections. */
export function openConnections(services: Services): ConnectionStore {
  return services.get(createConnections);
}

/**
 * Sends a hint to the connections of the table that it is meant for, and forgets those that are gone. A process that holds several of them sends
 * it to all, and so gets it once.
 */
export async function postHint(
  services: Services,
  hint: Hint,
  post: NonNullable<HintPort['post']>,
): Promise<void> {
  const connections = openConnections(services);
  const chosen = chooseConnections(await connections.list(hint.account), hint);
  const groups = Map.groupBy(chosen, ({ id, holder }) => holder ?? id);
  await forEachConcurrently([...groups.values()], accountConnectionsMax, async (group) => {
    const [first] = group;
    if (first === undefined || (await post(first, hint)) !== 'gone') return;
    for (const connection of group) await connections.remove(connection);
  });
}

function createConnections(services: Services): ConnectionStore {
  return createConnectionStore({
    ...openTable(services, 'tasks'),
    sessions: openAgentSessions(services),
  });
}

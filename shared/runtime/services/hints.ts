import { ItemTable } from '../../aws/table.ts';
import { DynamoConnectionStore } from '../../aws/tasks/connection-store.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { getErrorMessage } from '../../core/errors.ts';
import {
  accountConnectionsMax,
  type ConnectionStore,
  chooseConnections,
  type Hint,
  type Hints,
  isForAll,
} from '../../core/tasks/agent-connections.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import { findHintPort, type HintPort } from './hint-port.ts';
import type { Services } from './services.ts';

/** What sends hints, by the port that is bound: without one nobody is told. */
export function openHints(services: Services): Hints {
  return services.get(createHints);
}

/** The table of connections. */
export function openConnections(services: Services): ConnectionStore {
  return services.get(createConnections);
}

function createConnections(services: Services): ConnectionStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoConnectionStore({ table, clock, sessions: openAgentSessions(services) });
}

function createHints(services: Services): Hints {
  const { log } = openBase(services);
  return {
    async send(hint) {
      const port = findHintPort(services);
      try {
        if (port !== undefined) await sendBy(port, services, hint);
      } catch (error) {
        const { account, kind } = hint;
        log.warn('agents could not be told', { account, kind, reason: getErrorMessage(error) });
      }
    },
  };
}

/** Where an agent of this process takes the work, no other one is told. */
async function sendBy(port: HintPort, services: Services, hint: Hint): Promise<void> {
  const isTold = port.deliver?.(hint) === true;
  const { post } = port;
  if (post === undefined || (isTold && !isForAll(hint))) return;
  const connections = openConnections(services);
  const told = chooseConnections(await connections.list(hint.account), hint);
  await forEachConcurrently(told, accountConnectionsMax, async (connection) => {
    if ((await post(connection, hint)) === 'gone') await connections.remove(connection);
  });
}

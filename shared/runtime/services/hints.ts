import { ItemTable } from '../../aws/table.ts';
import { DynamoConnectionStore } from '../../aws/tasks/connection-store.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { getErrorMessage } from '../../core/errors.ts';
import {
  type AgentConnection,
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
import type { Services } from './services.ts';

/** What became of a hint. `gone`: the connection is there no more, and its row may go. */
export type HintDelivery = 'delivered' | 'gone' | 'failed';

/** How agents are told: each home of the functions has its own way. */
export interface HintPort {
  /** Where agents connect: an absolute URL, or a path of the API. */
  readonly url: string;
  /** Tells the connections that end in this process. Default: there are none. @returns whether there was one */
  deliver?(hint: Hint): boolean;
  /** Tells a connection of the table. Default: all end in this process, and the table is not asked. It takes a second at most. */
  post?(connection: AgentConnection, hint: Hint): Promise<HintDelivery>;
}

/** What sends hints, by the port that is bound: without one nobody is told. */
export function openHints(services: Services): Hints {
  return services.get(createHints);
}

/** The table of connections. */
export function openConnections(services: Services): ConnectionStore {
  return services.get(createConnections);
}

/** Has hints go that way from now on. */
export function bindHintPort(services: Services, port: HintPort): void {
  services.get(createSwitch).port = port;
}

/** Where agents connect; empty where they cannot. */
export function getHintUrl(services: Services): string {
  return services.get(createSwitch).port?.url ?? '';
}

interface HintSwitch {
  port: HintPort | undefined;
}

function createSwitch(services: Services): HintSwitch {
  return { port: findGatewayPort(services) };
}

/** By API Gateway, when deployed so. Its client is loaded with the first hint that somebody is to be told. */
function findGatewayPort(services: Services): HintPort | undefined {
  const { hintsUrl: url } = openBase(services).config;
  if (url === undefined) return undefined;
  return {
    url,
    async post(connection, hint) {
      const { openGatewayHints } = await import('./gateway-hints.ts');
      return openGatewayHints(services)(connection, hint);
    },
  };
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
      const { port } = services.get(createSwitch);
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

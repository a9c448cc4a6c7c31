import type { APIGatewayProxyResult } from 'aws-lambda';
import { mapConcurrently } from '#core/concurrency.ts';
import { VisibleError } from '#core/errors.ts';
import { parseError } from '#http/error-body.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import { runWithLogFields } from '#platform/services/logger.ts';
import { wallClock } from '#platform/services/system.ts';
import type { AgentSession } from '../agent-session.ts';
import { type AgentHub, openAgentHub } from '../services/agent-hub.ts';
import { openConnections } from '../sessions/connections.ts';
import { findSessionCaller } from './agent-handler.ts';

/** Rows of connections that are written at a time. */
const writesMax = 16;

/**
 * As much of an event of a WebSocket API as is read here ("Set up an integration request for a WebSocket API"). What the authorizer of
 * `$connect` said comes with every event of the connection.
 */
export interface ConnectionEvent {
  readonly requestContext: {
    readonly connectionId: string;
    readonly authorizer?: { readonly session?: string } | null;
  };
}

/** A Lambda function that API Gateway calls when a connection begins or has ended. */
export type ConnectionFunction = ServiceFunction<(event: ConnectionEvent) => Promise<APIGatewayProxyResult>>;

/** A connection, and of which session it is. */
export interface ConnectionPlace {
  readonly id: string;
  readonly session: string;
  /** Default: `websocket`. */
  readonly transport?: string;
  /** The process where it ends. Default: none of ours holds it. */
  readonly holder?: string;
}

/** Makes a Lambda function of what is done about a connection: whatever it throws refuses the connection. */
export function connectionHandler(
  run: (hub: AgentHub, place: ConnectionPlace) => Promise<number>,
): ConnectionFunction {
  return makeFunction((all) => async ({ requestContext: { connectionId: id, authorizer } }) => {
    const session = authorizer?.session ?? '';
    return runWithLogFields({ connection: id, session }, async () => {
      try {
        return toAnswer(await run(await openAgentHub(all), { id, session }));
      } catch (error) {
        // Without anything opened there is no log of ours.
        if (!(error instanceof VisibleError)) console.error(error);
        return toAnswer(parseError(error, wallClock.now()).status);
      }
    });
  });
}

/** Answers an agent's connection: 200, or 401 where none of its accounts is its own any more. @throws UnauthenticatedError */
export async function connectAgent(hub: AgentHub, place: ConnectionPlace): Promise<number> {
  const session = await writeConnection(hub, place);
  if (session === undefined) return 401;
  const { agentId, id, accounts } = session;
  hub.log.info('an agent connected', { agentId, session: id, accounts: accounts.length });
  return 200;
}

/**
 * Writes down a connection for each account of its session that is still the agent's.
 *
 * @returns its session; undefined where none of its accounts is the agent's own any more
 * @throws UnauthenticatedError where the session is over
 */
export async function writeConnection(
  hub: AgentHub,
  { id, session: sessionId, transport = 'websocket', holder }: ConnectionPlace,
): Promise<AgentSession | undefined> {
  const { session, accounts } = await findSessionCaller(hub, sessionId);
  const { agentId, zone } = session;
  const place = { id, session: sessionId, agentId, zone, transport, holder };
  const connections = openConnections(hub.all);
  const isAdded = await mapConcurrently([...accounts], writesMax, (account) =>
    connections.add({ ...place, account, connectedAtMs: hub.clock.now() }),
  );
  return isAdded.some(Boolean) ? session : undefined;
}

/** Forgets a connection. Rows left behind are forgotten by their time, or when sending to them fails. */
export async function disconnectAgent(
  hub: AgentHub,
  { id, session: sessionId }: ConnectionPlace,
): Promise<number> {
  const session = await hub.sessions.find(sessionId);
  const connections = openConnections(hub.all);
  await mapConcurrently(session?.accounts ?? [], writesMax, ({ name: account }) =>
    connections.remove({ account, id }),
  );
  return 200;
}

function toAnswer(statusCode: number): APIGatewayProxyResult {
  return { statusCode, body: '' };
}

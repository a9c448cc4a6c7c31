import { protocolVersion } from '../../agent-protocol/messages.ts';
import { NotFoundError } from '../../core/errors.ts';
import type { AgentLoad, AgentSession } from '../../core/tasks/agent-session.ts';
import { agentSilenceMs } from '../../core/tasks/task-inbox.ts';
import type { OperatorServices } from '../services/operators.ts';
import { isOutdated } from './agent-handler.ts';
import type { ApiRequest, ApiResponse } from './api-handler.ts';
import { ok } from './api-handler.ts';
import { findClouddriverId } from './clouddriver-view.ts';
import { getNumber } from './query-number.ts';

/** Agents of one answer: unless the caller says, and at most. */
const itemsDefault = 100;
const itemsMax = 500;

/** An agent as operators see it. Times are those of ISO 8601. */
export interface AgentView {
  readonly agentId: string;
  /** Who answers it: missing where that is any of several replicas. */
  readonly clouddriverId?: string;
  readonly clouddriverAlive?: boolean;
  readonly accounts: readonly string[];
  /** When it was last heard of, exact to some seconds, and whether that was within the last minute. */
  readonly lastConnection: string;
  readonly connected: boolean;
  /** The provider of its accounts. */
  readonly type?: string;
  readonly version: string;
  readonly protocol: number;
  readonly journalFormat: number;
  readonly zone: string;
  /** What it ran when it last renewed its session; missing before. */
  readonly load?: AgentLoad;
  /** Whether it is older than what is served fully. */
  readonly outdated: boolean;
  readonly lastWarnings: readonly string[];
}

/** Answers a page of agents; where there are more, `X-Busdriver-Next` tells what to ask for `after`. */
export async function listAgents(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const limit = getNumber(request, 'items', { min: 1, max: itemsMax, otherwise: itemsDefault });
  const after = request.findQuery('after');
  const { sessions, next } = await services.directory.list({ limit, after });
  const answer = ok(sessions.map((session) => toAgentView(session, services)));
  return next === undefined ? answer : { ...answer, headers: { 'X-Busdriver-Next': next } };
}

/** Answers one agent. @throws NotFoundError where none of that name has a session */
export async function getAgent(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const [session] = await getSessions(request, services);
  return ok(toAgentView(session, services));
}

/** The sessions of the agent that a path names, the newest first. @throws NotFoundError where there are none */
export async function getSessions(
  request: ApiRequest,
  { directory }: OperatorServices,
): Promise<readonly [AgentSession, ...(readonly AgentSession[])]> {
  const agentId = request.getParameter('agentId');
  const [newest, ...others] = await directory.listOf(agentId);
  if (newest === undefined) throw new NotFoundError(`No agent '${agentId}' has a session`);
  return [newest, ...others];
}

function toAgentView(session: AgentSession, services: OperatorServices): AgentView {
  const { agentId, accounts, seenAtMs, version, protocol, journalFormat, zone, load, warnings } = session;
  const clouddriverId = findClouddriverId(services);
  const type = accounts.flatMap(({ name }) => services.providers.findAccount(name)?.cloudProvider ?? [])[0];
  return {
    agentId,
    ...(clouddriverId !== undefined && { clouddriverId, clouddriverAlive: true }),
    accounts: accounts.map(({ name }) => name),
    lastConnection: new Date(seenAtMs).toISOString(),
    connected: services.clock.now() - seenAtMs < agentSilenceMs,
    ...(type !== undefined && { type }),
    ...{ version, protocol, journalFormat, zone },
    ...(load && { load }),
    outdated: protocol < protocolVersion || isOutdated(session, services.agentSettings),
    lastWarnings: warnings,
  };
}

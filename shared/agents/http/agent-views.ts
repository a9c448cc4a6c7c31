import { NotFoundError } from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { findClouddriverId } from '#http/clouddriver-view.ts';
import { getNumber } from '#http/query-number.ts';
import { agentSilenceMs } from '#tasks/task-inbox.ts';
import type { AgentLoad, AgentSession } from '../agent-session.ts';
import { protocolVersion } from '../protocol/messages.ts';
import type { OperatorServices } from '../services/operators.ts';
import { isOutdated } from './agent-handler.ts';

/** Agents of one answer: unless the caller says, and at most. */
const itemsDefault = 100;
const itemsMax = 500;

/** An agent as operators see it. Times are those of ISO 8601. */
export interface AgentView {
  readonly agentId: string;
  /** The Clouddriver that answers it: missing where that is any of several replicas. */
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
  /** Its load when it last renewed its session; missing before. */
  readonly load?: AgentLoad;
  /** Whether it is older than what is served fully. */
  readonly outdated: boolean;
  readonly lastWarnings: readonly string[];
}

/** Answers a page of the agents whose accounts the caller may read; `X-Busdriver-Next` has the `after` of the next one. */
export async function listAgents(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const limit = getNumber(request, 'items', { min: 1, max: itemsMax, otherwise: itemsDefault });
  const after = request.findQuery('after');
  const { sessions, next } = await services.directory.list({ limit, after });
  const mayShow = await request.access.openAccountFilter();
  const shown = sessions.filter((session) => isShown(session, mayShow));
  const answer = ok(shown.map((session) => toAgentView(session, services, mayShow)));
  return next === undefined ? answer : { ...answer, headers: { 'X-Busdriver-Next': next } };
}

/** Answers one agent. @throws NotFoundError where none of that name has a session */
export async function getAgent(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const sessions = await getSessions(request, services);
  const mayShow = await request.access.openAccountFilter();
  const session = sessions.find((each) => isShown(each, mayShow)) ?? sessions[0];
  return ok(toAgentView(session, services, mayShow));
}

/**
 * The sessions of the agent that a path names, the newest first.
 *
 * @throws NotFoundError where there are none, and in the same words where the caller may read no account of any
 */
export async function getSessions(
  request: ApiRequest,
  { directory }: OperatorServices,
): Promise<readonly [AgentSession, ...(readonly AgentSession[])]> {
  const agentId = request.getParameter('agentId');
  const [sessions, mayShow] = await Promise.all([
    directory.listOf(agentId),
    request.access.openAccountFilter(),
  ]);
  const isAnyShown = sessions.some((session) => isShown(session, mayShow));
  const [newest, ...others] = isAnyShown ? sessions : [];
  if (newest === undefined) throw new NotFoundError(`No agent '${agentId}' has a session`);
  return [newest, ...others];
}

type AccountFilter = (account: string) => boolean;

function isShown({ accounts }: Pick<AgentSession, 'accounts'>, mayShow: AccountFilter): boolean {
  return accounts.some(({ name }) => mayShow(name));
}

/** The warnings of a session's log, for who may see each account of it: they may name any. */
export function listShownWarnings(
  { accounts, warnings }: Pick<AgentSession, 'accounts' | 'warnings'>,
  mayShow: AccountFilter,
): readonly string[] {
  return accounts.every(({ name }) => mayShow(name)) ? warnings : [];
}

function toAgentView(session: AgentSession, services: OperatorServices, mayShow: AccountFilter): AgentView {
  const { agentId, seenAtMs, version, protocol, journalFormat, zone, load } = session;
  const clouddriverId = findClouddriverId(services);
  const accounts = session.accounts.map(({ name }) => name).filter(mayShow);
  const type = accounts.flatMap((name) => services.providers.findAccount(name)?.cloudProvider ?? [])[0];
  return {
    agentId,
    ...(clouddriverId !== undefined && { clouddriverId, clouddriverAlive: true }),
    accounts,
    lastConnection: new Date(seenAtMs).toISOString(),
    connected: services.clock.now() - seenAtMs < agentSilenceMs,
    ...(type !== undefined && { type }),
    ...{ version, protocol, journalFormat, zone },
    ...(load && { load }),
    outdated: protocol < protocolVersion || isOutdated(session, services.agentSettings),
    lastWarnings: listShownWarnings(session, mayShow),
  };
}

import * as z from 'zod';
import { mapConcurrently } from '#core/concurrency.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import { compareText } from '#core/text-order.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { getNumber } from '#http/query-number.ts';
import { parseWith } from '#settings/coerce.ts';
import { type AgentEnrolment, type EnrolmentEvent, enrolAgents, revokeAgents } from '../agent-enrolment.ts';
import { type AgentSession, isConnected } from '../agent-session.ts';
import { endSessions } from '../services/ended-sessions.ts';
import type { OperatorServices } from '../services/operators.ts';
import { listShownWarnings } from './agent-views.ts';

/** Tasks that are counted at most. */
const waitingMax = 1_000;

/** Accounts that are looked up at a time. */
const accountsAtOnce = 8;

/** The agents of an account, for who looks after them. Times are milliseconds since the epoch. */
export interface AccountAgentsView {
  readonly account: string;
  readonly state: 'enrolled' | 'revoked';
  /** Why what is known of them cannot be read: then no agent is let in. Left out where it can. */
  readonly unreadable?: string;
  /** Rises whenever sessions of before are ended. */
  readonly generation: number;
  /** The cluster that the account is for; left out before an agent reported one. */
  readonly cluster?: { uid: string; host: string; version: string; certFingerprint: string };
  /** Replicas that are connected, and that should be. */
  readonly connected: number;
  readonly minReplicas: number;
  readonly agents: readonly AccountAgentView[];
  /** Operations that are not begun, 1,000 at most, and since when the oldest waits. */
  readonly waiting: number;
  readonly waitingSince?: number;
  /** The history of its agents, newest first. */
  readonly history: readonly {
    event: EnrolmentEvent;
    timestamp: number;
    user?: string;
    clusterUid: string;
  }[];
}

/** A session of an agent of an account. */
export interface AccountAgentView {
  readonly agentId: string;
  readonly version: string;
  readonly zone: string;
  readonly connected: boolean;
  readonly openedAt: number;
  readonly seenAt: number;
  /** The last warnings of its log; none for who may not read each account that it serves. */
  readonly warnings: readonly string[];
}

const changeSchema = z.object({
  state: z.enum(['enrolled', 'revoked'], { error: 'expected enrolled or revoked' }),
  replace: z.boolean({ error: 'expected true or false' }).optional(),
});

/** How the agents of the account of the path are. @throws NotFoundError for an account without agents */
export async function getAccountAgents(
  request: ApiRequest,
  services: OperatorServices,
): Promise<AccountAgentsView> {
  const account = getAgentAccount(request, services);
  const mayShow = await request.access.openAccountFilter();
  return toView({ ...services, mayShow }, account, await services.enrolments.find(account));
}

/**
 * Revokes the agents of the account of the path, or lets them in again. First that is stored, then sessions are ended: one that is opened
 * meanwhile ends itself.
 *
 * @throws NotFoundError for an account without agents; InvalidInputError for a body of no use
 */
export async function changeAccountAgents(
  request: ApiRequest,
  services: OperatorServices,
): Promise<AccountAgentsView> {
  const account = getAgentAccount(request, services);
  const { state, replace = false } = parseWith(changeSchema, request.parseJson(), '');
  if (state === 'revoked' && replace)
    throw new InvalidInputError('replace: expected nothing beside state revoked');
  request.audit({ action: 'changeAgent', account });
  const author = { atMs: services.clock.now(), by: request.access.identity.user };
  const after = await services.enrolments.change(account, (before) =>
    state === 'revoked' ? revokeAgents(before, author) : enrolAgents(before, replace, author),
  );
  if (state === 'revoked' || replace) await endSessions(services, account);
  services.log.info(`agents of an account are ${state}`, { account, generation: after.generation });
  return toView({ ...services, mayShow: await request.access.openAccountFilter() }, account, after);
}

/** How the agents of all accounts are that have some and that the caller may change. @throws InvalidInputError for a page of no use */
export async function listAccountAgents(
  request: ApiRequest,
  services: OperatorServices,
): Promise<ApiResponse> {
  const limit = getNumber(request, 'items', { min: 1, max: 500, otherwise: 100 });
  const after = request.findQuery('after') ?? '';
  const [mayChange, mayShow] = await Promise.all([
    request.access.openAccountFilter('WRITE'),
    request.access.openAccountFilter(),
  ]);
  const names = services.providers.accounts
    .filter(({ name, agentHome }) => agentHome !== undefined && name > after && mayChange(name))
    .map(({ name }) => name)
    .sort(compareText);
  const page = names.slice(0, limit);
  const views = await mapConcurrently(page, accountsAtOnce, async (name) =>
    toView({ ...services, mayShow }, name, await services.enrolments.find(name)),
  );
  const last = page.at(-1);
  if (last === undefined || names.length <= limit) return ok(views);
  return { ...ok(views), headers: { 'X-Busdriver-Next': last } };
}

function getAgentAccount(request: ApiRequest, { providers }: OperatorServices): string {
  const name = request.getParameter('account');
  if (providers.getAccount(name).agentHome !== undefined) return name;
  throw new NotFoundError(`Account ${name} has no agents: its cluster is reached from here`);
}

interface ViewServices extends OperatorServices {
  /** Whether the caller may read an account. */
  mayShow(account: string): boolean;
}

async function toView(
  { sessions, inboxes, providers, clock, mayShow }: ViewServices,
  account: string,
  { generation, isRevoked, cluster, changes, unreadable }: AgentEnrolment,
): Promise<AccountAgentsView> {
  const [found, waiting] = await Promise.all([sessions.listOf(account), inboxes.list(account, waitingMax)]);
  const agents = found.map((session) => ({
    ...toAgentView(session, clock.now()),
    warnings: listShownWarnings(session, mayShow),
  }));
  const [oldest] = waiting;
  return {
    account,
    state: isRevoked ? 'revoked' : 'enrolled',
    generation,
    ...(unreadable !== undefined && { unreadable }),
    ...(cluster && { cluster: { ...cluster } }),
    connected: agents.filter(({ connected }) => connected).length,
    minReplicas: providers.getAccount(account).agentHome?.minReplicas ?? 1,
    agents,
    waiting: waiting.length,
    ...(oldest && { waitingSince: oldest.acceptedAtMs }),
    history: changes.map(({ event, atMs, by, clusterUid }) => ({
      ...{ event, timestamp: atMs, clusterUid },
      ...(by !== undefined && { user: by }),
    })),
  };
}

function toAgentView(session: AgentSession, nowMs: number): Omit<AccountAgentView, 'warnings'> {
  const { agentId, version, zone, openedAtMs, seenAtMs } = session;
  return {
    ...{ agentId, version, zone, connected: isConnected(session, nowMs) },
    ...{ openedAt: openedAtMs, seenAt: seenAtMs },
  };
}

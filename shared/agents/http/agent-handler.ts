import { noRights } from '#access/authorization.ts';
import { findRow, toEntries } from '#access/http/access-table.ts';
import { createAccess, nobody } from '#access/http/request-access.ts';
import { AccessDeniedError, UnauthenticatedError } from '#core/errors.ts';
import { isOlderRelease } from '#core/release-version.ts';
import { agentRoutes } from '#functions/agent-routes.ts';
import { type ApiFunction, makeApiFunction } from '#http/api-function.ts';
import type { ApiRequest } from '#http/api-request.ts';
import type { ApiResponse } from '#http/api-response.ts';
import { toErrorBody } from '#http/error-body.ts';
import type { Gate } from '#http/gate.ts';
import { addLogFields } from '#platform/services/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { type AgentSettings, minimumVersionPath } from '#settings/agent-settings.ts';
import { journalFormat } from '#tasks/journal-format.ts';
import { isFinished } from '#tasks/task.ts';
import type { TaskHold } from '#tasks/task-inbox.ts';
import { type AgentSession, sessionLifeMs } from '../agent-session.ts';
import { type AgentHub, openAgentHub } from '../services/agent-hub.ts';
import { toRestEvent } from './http-api-event.ts';

/** An agent that has proved its session. */
export interface AgentCaller {
  readonly session: AgentSession;
  /** The accounts of the session that are still there, and served by agents: of those it may see and do everything. */
  readonly accounts: ReadonlySet<string>;
}

const table = new Map(toEntries(agentRoutes));

/** Lets everybody in: what proves an agent is looked at by its functions. */
const gate: Gate = {
  getRoute: (event) => findRow(table, event),
  readEvent: toRestEvent,
  async admit(event) {
    return createAccess(
      { route: findRow(table, event), identity: nobody, rules: {} },
      { getRights: () => noRights },
    );
  },
  async record() {},
};

/** Makes a Lambda function for a route that agents call before they have a session. */
export function newAgentHandler(
  run: (request: ApiRequest, hub: AgentHub) => Promise<ApiResponse>,
): ApiFunction {
  return makeApiFunction({ open: openAgentHub, run }, gate);
}

/** Makes a Lambda function for a route that agents call in their session. */
export function agentHandler(
  run: (request: ApiRequest, hub: AgentHub, caller: AgentCaller) => Promise<ApiResponse>,
): ApiFunction {
  return agentHandlerOf(openAgentHub, run);
}

/** The same with more to work with. @param open opens it; called with each request */
export function agentHandlerOf<H extends AgentHub>(
  open: (services: Services) => Promise<H>,
  run: (request: ApiRequest, hub: H, caller: AgentCaller) => Promise<ApiResponse>,
): ApiFunction {
  const runAs = async (request: ApiRequest, hub: H): Promise<ApiResponse> =>
    run(request, hub, await findCaller(request, hub));
  return makeApiFunction({ open, run: runAs }, gate);
}

/** The bearer token of a request. @throws UnauthenticatedError where there is none */
export function getBearerToken(request: Pick<ApiRequest, 'findHeader'>): string {
  const [, token] = /^Bearer ([\w.~+/=-]+)$/i.exec(request.findHeader('authorization') ?? '') ?? [];
  if (token !== undefined) return token;
  throw new UnauthenticatedError('Expected a header Authorization: Bearer with a token');
}

async function findCaller(request: ApiRequest, hub: AgentHub): Promise<AgentCaller> {
  const caller = await findTokenCaller(hub, getBearerToken(request));
  const named = request.findParameter('session');
  if (named !== undefined && named !== caller.session.id)
    throw new AccessDeniedError('The token is of another session');
  addLogFields({ agentId: caller.session.agentId, taskId: request.findParameter('task') });
  return caller;
}

/** The agent that a token of a session proves. @throws UnauthenticatedError for another token, and for a session that is over */
export async function findTokenCaller(hub: AgentHub, token: string): Promise<AgentCaller> {
  return findSessionCaller(hub, await hub.tokens.verify(token));
}

/** The agent whose session it is. @throws UnauthenticatedError for a session that is over */
export async function findSessionCaller(hub: AgentHub, id: string): Promise<AgentCaller> {
  const { sessions, providers, clock } = hub;
  const session = await sessions.find(id);
  const isOver =
    session === undefined || session.isClosed || clock.now() - session.openedAtMs >= sessionLifeMs;
  if (isOver || !(await isProved(hub, session))) {
    throw new UnauthenticatedError('The session is over: open another one');
  }
  const names = session.accounts.map(({ name }) => name);
  return { session, accounts: new Set(names.filter((name) => providers.findAccount(name)?.agentHome)) };
}

/**
 * Whether each account of a session still takes the proof by which the agent was let in. An account that is not known any more is left out here:
 * it gives nothing, and the others are the agent's all the same.
 *
 * @param looksElsewhere as of `AgentProofs.takes`
 */
export async function isProved(
  { proofs, providers }: Pick<AgentHub, 'proofs' | 'providers'>,
  { audience, accounts }: Pick<AgentSession, 'audience' | 'accounts'>,
  looksElsewhere = false,
): Promise<boolean> {
  if (audience !== proofs.audience) return false;
  const taken = await Promise.all(
    accounts.map((account) => {
      const home = providers.findAccount(account.name)?.agentHome;
      return home === undefined || proofs.takes(home.auth, account, looksElsewhere);
    }),
  );
  return taken.every(Boolean);
}

/** Whether an agent is older than those that run operations and live reads. */
export function isOutdated(
  { version }: Pick<AgentSession, 'version'>,
  { minimumVersion }: Pick<AgentSettings, 'minimumVersion'>,
): boolean {
  return minimumVersion !== undefined && isOlderRelease(version, minimumVersion);
}

/** @throws AccessDeniedError for an agent that is older than those that run operations and live reads */
export function checkVersion(
  { session }: AgentCaller,
  { agentSettings }: Pick<AgentHub, 'agentSettings'>,
): void {
  if (!isOutdated(session, agentSettings)) return;
  throw new AccessDeniedError(
    `Version ${session.version} of the agent is older than ${minimumVersionPath}: install ${agentSettings.minimumVersion} or newer`,
  );
}

/** A task that the caller may deal with, and its id. */
export interface HeldTask {
  readonly id: string;
  readonly hold: TaskHold;
}

/** The task that a request names. An unknown one is refused as one of another account, so as not to reveal it. @throws AccessDeniedError */
export async function getHeldTask(
  request: ApiRequest,
  { inboxes }: AgentHub,
  { accounts }: AgentCaller,
): Promise<HeldTask> {
  const id = request.getParameter('task');
  const hold = await inboxes.findHold(id);
  const account = hold?.inbox?.account;
  if (hold === undefined || account === undefined || !accounts.has(account)) {
    throw new AccessDeniedError(`Task ${id} is of no account of this session`);
  }
  return { id, hold };
}

/** Why a lease is refused or lost: it is held, the task has ended or is forgotten, or the agent would not understand its journal. */
export type LeaseRefusal = 'held' | 'finished' | 'unknown' | 'journal-format';

const refusals: { readonly [reason in LeaseRefusal]: string } = {
  held: 'Another worker has the task',
  finished: 'The task has ended',
  unknown: 'The task is unknown',
  'journal-format': 'The journal of the task has another format than the agent has',
};

/** 409 with the reason why the lease of a task is not to be had, or lost: the state of the task now. */
export async function refuseLease(
  { store, clock }: Pick<AgentHub, 'store' | 'clock'>,
  taskId: string,
): Promise<ApiResponse> {
  const task = await store.findStatus(taskId);
  const reason: LeaseRefusal = task === undefined ? 'unknown' : isFinished(task) ? 'finished' : 'held';
  return toRefusal(reason, clock.now());
}

/**
 * 409 for an agent that has another format of journals than the task was begun with, or would begin one with another than the server
 * has: what is done would be taken for something else.
 *
 * @returns undefined for one whose format is the same
 */
export function refuseFormat(
  { hold }: Pick<HeldTask, 'hold'>,
  { session, clock }: Pick<AgentCaller, 'session'> & Pick<AgentHub, 'clock'>,
): ApiResponse | undefined {
  const format = hold.journalFormat ?? journalFormat;
  if (isFinished(hold) || session.journalFormat === format) return undefined;
  const install = `the agent has ${session.journalFormat}: install an agent whose journal format is ${format}`;
  const text = `${refusals['journal-format']}: it is ${format}, ${install}`;
  return toRefusal('journal-format', clock.now(), text);
}

function toRefusal(reason: LeaseRefusal, nowMs: number, text: string = refusals[reason]): ApiResponse {
  return refuse(text, nowMs, { reason });
}

/** 409 with a reason for the agent. @param refusal.nextRunMs when it may succeed: sooner it is worth asking only after a hint */
export function refuse(
  message: string,
  nowMs: number,
  refusal: { readonly reason: LeaseRefusal | 'lost'; readonly nextRunMs?: number | undefined },
): ApiResponse {
  return { status: 409, body: JSON.stringify({ ...toErrorBody(409, message, nowMs), ...refusal }) };
}

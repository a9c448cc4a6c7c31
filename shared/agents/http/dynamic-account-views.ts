import { denyAccount } from '#access/authorization.ts';
import { maskDefinition } from '#accounts/definition-secrets.ts';
import { findAccess, mayChange } from '#accounts/http/account-request.ts';
import { getExpandedAccount } from '#accounts/http/expanded-accounts.ts';
import type { Permissions } from '#accounts/model/account.ts';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import type { JsonObject } from '#core/json.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { toTag } from '#http/entity-tag.ts';
import { plugins } from '#providers/index.ts';
import type { ReadServices } from '#views/services/views.ts';
import { type AgentAccountStatus, getAgentAccountStatus } from '../agent-account-status.ts';
import type { AgentEnrolment } from '../agent-enrolment.ts';
import { type AgentSession, isConnected } from '../agent-session.ts';
import type { AgentAccountServices } from '../services/agent-accounts.ts';
import { getAgentAccount } from './dynamic-accounts.ts';

/** An account that agents serve, in the form of `GET /armory/accounts/{name}` of Armory's plug-in. */
export interface DynamicAccountView {
  readonly name: string;
  /** Its provider. */
  readonly type: string;
  /** The place of its definition. */
  readonly source: 'clouddriver';
  readonly status: AgentAccountStatus;
  /** The zone of the agent that opened its session last, if that named one. */
  readonly zoneId?: string;
  /** Those that are connected. */
  readonly agents: readonly { readonly agentId: string }[];
  /** Its definition, with masks in the place of secrets; missing for one of the settings. */
  readonly config?: JsonObject;
}

/** The same in the form of the plug-in's `GET /agents/kubernetes/accounts/{name}`. */
export interface AgentAccountView {
  readonly name: string;
  readonly status: AgentAccountStatus;
  /** Whether an API made it: the settings have the others. */
  readonly dynamic: boolean;
  /** Agents that are connected. */
  readonly connections: number;
  readonly zoneId?: string;
  /** The cluster, as its agents report it. */
  readonly kubeHost?: string;
  readonly kubeVersion?: string;
  readonly certFingerprint?: string;
  /** When its definition or its agents were changed last: milliseconds since the epoch. */
  readonly lastUpdated?: number;
  readonly permissions: Permissions;
  readonly definition?: JsonObject;
}

/** Answers the account of the path. @throws NotFoundError for one without agents; AccessDeniedError */
export async function getDynamicAccount(
  request: ApiRequest,
  services: AgentAccountServices,
): Promise<ApiResponse> {
  const found = await readAccount(request, services);
  const { name, type, stored, status, connected, zone } = found;
  const view: DynamicAccountView = {
    ...{ name, type, source: 'clouddriver', status, ...zone },
    agents: connected.map(({ agentId }) => ({ agentId })),
    ...(stored && { config: maskDefinition(stored, plugins) }),
  };
  return { ...ok(view), ...toHeaders(stored) };
}

/** Answers the account of the path, with the cluster that its agents reported. @throws NotFoundError for one without agents; AccessDeniedError */
export async function getAgentAccountView(
  request: ApiRequest,
  services: AgentAccountServices,
): Promise<ApiResponse> {
  const { name, stored, status, connected, zone, enrolment } = await readAccount(request, services);
  const { cluster, changes } = enrolment;
  const lastUpdated = Math.max(stored?.modifiedAtMs ?? 0, changes[0]?.atMs ?? 0);
  const access = stored === undefined ? services.providers.findAccount(name) : findAccess(stored);
  const view: AgentAccountView = {
    ...{ name, status, dynamic: stored !== undefined, connections: connected.length, ...zone },
    ...(cluster && {
      kubeHost: cluster.host,
      kubeVersion: cluster.version,
      certFingerprint: cluster.certFingerprint,
    }),
    ...(lastUpdated > 0 && { lastUpdated }),
    permissions: access?.permissions ?? {},
    ...(stored && { definition: maskDefinition(stored, plugins) }),
  };
  return { ...ok(view), ...toHeaders(stored) };
}

/**
 * Answers the namespaces of the account of the path: those that its definition names, else those that are cached.
 *
 * @throws NotFoundError for one without agents; AccessDeniedError
 */
export async function listAgentNamespaces(
  request: ApiRequest,
  services: AgentAccountServices & ReadServices,
): Promise<ApiResponse> {
  const { name } = await findReadable(request, services);
  const { namespaces } = await getExpandedAccount(services, name);
  return ok(Array.isArray(namespaces) ? namespaces : []);
}

/** An account and its agents, as far as known. */
interface FoundAccount {
  readonly name: string;
  readonly type: string;
  readonly stored: StoredAccount | undefined;
  readonly status: AgentAccountStatus;
  readonly connected: readonly AgentSession[];
  readonly zone: { readonly zoneId: string } | undefined;
  readonly enrolment: AgentEnrolment;
}

async function readAccount(request: ApiRequest, services: AgentAccountServices): Promise<FoundAccount> {
  const { name, stored } = await findReadable(request, services);
  const { sessions, enrolments, clock, providers } = services;
  const [found, enrolment] = await Promise.all([sessions.listOf(name), enrolments.find(name)]);
  const nowMs = clock.now();
  const connected = found.filter((session) => isConnected(session, nowMs));
  const newest = found.toSorted((a, b) => b.openedAtMs - a.openedAtMs).find(({ zone }) => zone !== '');
  return {
    ...{ name, stored, connected, enrolment },
    type: stored?.type ?? providers.getAccount(name).cloudProvider,
    status: getAgentAccountStatus({ enrolment, sessions: found, nowMs }),
    zone: newest && { zoneId: newest.zone },
  };
}

/** The store's word on rights counts, which the gate may not know yet. */
async function findReadable(
  request: ApiRequest,
  services: AgentAccountServices,
): ReturnType<typeof getAgentAccount> {
  const account = await getAgentAccount(services, request.getParameter('account'));
  if (mayChange(request, services, account)) return account;
  throw denyAccount(account.name, 'WRITE');
}

function toHeaders(stored: StoredAccount | undefined): Pick<ApiResponse, 'headers'> {
  return stored === undefined ? {} : { headers: { ETag: toTag(stored) } };
}

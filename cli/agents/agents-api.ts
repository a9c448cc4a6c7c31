import { asJsonArray, asJsonObject, asString, getPath, type JsonValue } from '#core/json.ts';
import type { ApiClient } from '../api-client.ts';
import { ApiError, CliError } from '../cli-error.ts';

/** Accounts of one page, and how many are read at most. */
const pageSize = 500;
const accountsMax = 20_000;

/** An agent of an account, as Busdriver lists it. */
export interface AgentRow {
  readonly agentId: string;
  readonly version: string;
  readonly zone: string;
  readonly connected: boolean;
  readonly openedAt: number;
  readonly seenAt: number;
  readonly warnings: readonly string[];
}

/** The agents of an account, as Busdriver lists them. Times are milliseconds since the epoch. */
export interface AccountAgents {
  readonly account: string;
  readonly state: string;
  readonly connected: number;
  readonly minReplicas: number;
  readonly clusterUid: string;
  readonly clusterHost: string;
  readonly clusterVersion: string;
  readonly waiting: number;
  readonly waitingSince: number | undefined;
  readonly agents: readonly AgentRow[];
  /** When they were enrolled or revoked last, by whom: newest first. */
  readonly history: readonly { readonly event: string; readonly timestamp: number; readonly user: string }[];
}

/** The path that lists the agents of an account. */
export function toAgentsPath(account: string): string {
  return `/credentials/${encodeURIComponent(account)}/agents`;
}

/** The agents of an account. @throws ApiError, CliError where Busdriver serves no agents */
export async function readAgents(client: ApiClient, account: string): Promise<AccountAgents> {
  return parseAgents(await explain(client, () => client.get(toAgentsPath(account))));
}

/** The agents of every account that has some. @throws as `readAgents` */
export async function readAllAgents(client: ApiClient): Promise<readonly AccountAgents[]> {
  const found: AccountAgents[] = [];
  for (let next: string | null = ''; next !== null && found.length < accountsMax; ) {
    const path: string = `/agents?items=${pageSize}&after=${encodeURIComponent(next)}`;
    const { body, headers } = await explain(client, () => client.send(path));
    found.push(...asJsonArray(body).map(parseAgents));
    next = headers.get('x-busdriver-next');
  }
  return found;
}

/** Lets the agents of an account in, or throws them out. @throws as `readAgents` */
export async function changeAgents(
  client: ApiClient,
  account: string,
  body: { readonly state: 'enrolled' | 'revoked'; readonly replace?: boolean },
): Promise<AccountAgents> {
  const send = () => client.send(toAgentsPath(account), { method: 'PUT', body: { ...body } });
  return parseAgents((await explain(client, send)).body);
}

async function explain<T>(client: ApiClient, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isUnserved = error instanceof ApiError && error.message.includes('Agents are not served here');
    if (!isUnserved) throw error;
    throw new CliError(`${client.url} serves no agents`, {
      next: 'set busdriver.agents.enabled to true in its settings',
      cause: error,
    });
  }
}

function parseAgents(body: JsonValue | undefined): AccountAgents {
  const text = (...path: string[]) => asString(getPath(body, ...path)) ?? '';
  const count = (name: string) => toNumber(getPath(body, name)) ?? 0;
  return {
    account: text('account'),
    state: text('state'),
    connected: count('connected'),
    minReplicas: count('minReplicas'),
    clusterUid: text('cluster', 'uid'),
    clusterHost: text('cluster', 'host'),
    clusterVersion: text('cluster', 'version'),
    waiting: count('waiting'),
    waitingSince: toNumber(getPath(body, 'waitingSince')),
    agents: asJsonArray(getPath(body, 'agents')).map(parseAgent),
    history: asJsonArray(getPath(body, 'history')).map((entry) => ({
      event: asString(getPath(entry, 'event')) ?? '',
      timestamp: toNumber(getPath(entry, 'timestamp')) ?? 0,
      user: asString(getPath(entry, 'user')) ?? '',
    })),
  };
}

function parseAgent(body: JsonValue): AgentRow {
  const agent = asJsonObject(body) ?? {};
  return {
    agentId: asString(agent['agentId']) ?? '',
    version: asString(agent['version']) ?? '',
    zone: asString(agent['zone']) ?? '',
    connected: agent['connected'] === true,
    openedAt: toNumber(agent['openedAt']) ?? 0,
    seenAt: toNumber(agent['seenAt']) ?? 0,
    warnings: asJsonArray(agent['warnings']).map(String),
  };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

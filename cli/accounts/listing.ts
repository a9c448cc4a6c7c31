import type { Command } from 'commander';
import { asJsonArray, asJsonObject, asString, getPath, type JsonValue } from '#core/json.ts';
import type { ApiClient } from '../api-client.ts';
import { ApiError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { type Cell, printTable } from '../table.ts';
import type { Style } from '../terminal.ts';
import { formatDuration } from '../time.ts';
import { readDefinitions } from './definition-pages.ts';

/** An account as `busdriver accounts list` shows it. Unknown members are left out. */
export interface ListedAccount {
  readonly name: string;
  readonly provider: string;
  /** `store` for one that an API made, `settings` for one of the YAML or a kubeconfig. */
  readonly origin?: 'store' | 'settings' | undefined;
  /** `UP`, `DEGRADED`, `DOWN` … */
  readonly state?: string | undefined;
  /** Milliseconds by which the cache is behind the cluster: that of the agent that is furthest behind. */
  readonly lagMs?: number | undefined;
  /** Why its state is not `UP`, or why its agents fail. */
  readonly reason?: string | undefined;
}

/** Reports of the agents of one account. */
interface AgentSummary {
  readonly lagMs?: number | undefined;
  readonly error?: string | undefined;
}

const stateStyles: { readonly [state: string]: Style } = {
  UP: 'green',
  DEGRADED: 'yellow',
  OUTDATED: 'yellow',
  DOWN: 'red',
  REJECTED: 'red',
  DISCONNECTED: 'red',
};

/** Lists all accounts. */
export async function listAccounts(context: CliContext, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const accounts = await terminal.wait(
    () => `reading accounts from ${client.url}`,
    () => readAccounts(client),
  );
  if (isJsonWanted(command)) return terminal.printJson(accounts);
  if (accounts.length === 0) {
    return terminal.tell(
      `${client.url} has no account that you may see. Next: busdriver accounts add --help`,
    );
  }
  printTable(terminal, {
    headings: ['NAME', 'PROVIDER', 'ORIGIN', 'STATE', 'LAG', 'REASON'],
    rows: accounts.map(toRow),
  });
}

function toRow(account: ListedAccount): readonly Cell[] {
  const { name, provider, origin = '', state = '', lagMs, reason = '' } = account;
  const style = Object.hasOwn(stateStyles, state) ? stateStyles[state] : undefined;
  const lag = lagMs === undefined ? '' : formatDuration(lagMs);
  return [name, provider, origin, style ? { text: state, style } : state, lag, reason];
}

/** The accounts that the caller may see. @throws ApiError, CliError */
export async function readAccounts(client: ApiClient): Promise<readonly ListedAccount[]> {
  const [accounts, agents, stored] = await Promise.all([
    client.get('/credentials?expand=true'),
    client.get('/cache/introspection').then(summarizeAgents),
    readStoredNames(client),
  ]);
  return asJsonArray(accounts).map((account) => {
    const name = String(getPath(account, 'name'));
    const summary = agents.get(name);
    return {
      name,
      provider: asString(getPath(account, 'cloudProvider')) ?? asString(getPath(account, 'type')) ?? '',
      origin: stored && getOrigin(account, stored),
      state: asString(getPath(account, 'health', 'state')),
      lagMs: summary?.lagMs,
      // The agent's own words name file and host, which are kept from what everybody may see.
      reason: summary?.error ?? asString(getPath(account, 'health', 'reason')),
    };
  });
}

/** The origin of an account: the store lists those alone that the caller may change, which open ones are for everybody. */
function getOrigin(account: JsonValue, stored: ReadonlySet<string>): ListedAccount['origin'] {
  if (stored.has(String(getPath(account, 'name')))) return 'store';
  const isOpen =
    getPath(account, 'permissions') === undefined &&
    asJsonArray(getPath(account, 'requiredGroupMembership')).length === 0;
  return isOpen ? 'settings' : undefined;
}

/** The accounts that an API made; undefined where the caller may not know them, or there is no store. */
async function readStoredNames(client: ApiClient): Promise<ReadonlySet<string> | undefined> {
  try {
    const kinds = ['kubernetes', 'dockerRegistry'];
    const definitions = await Promise.all(kinds.map((type) => readDefinitions(client, type)));
    return new Set(definitions.flat().map((definition) => String(getPath(definition, 'name'))));
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404, 405].includes(error.status)) return undefined;
    throw error;
  }
}

/** Reports of the caching agents, by the names of their accounts. */
export function summarizeAgents(agents: JsonValue | undefined): ReadonlyMap<string, AgentSummary> {
  const summaries = new Map<string, AgentSummary>();
  for (const agent of asJsonArray(agents)) {
    const account = asString(asJsonObject(agent)?.['account']);
    if (account === undefined || getPath(agent, 'state') === 'removed') continue;
    const { lagMs, error } = summaries.get(account) ?? {};
    const ageMs = getPath(agent, 'ageMs');
    const failures = getPath(agent, 'failures');
    const lastError =
      typeof failures === 'number' && failures > 0 ? asString(getPath(agent, 'lastError')) : undefined;
    summaries.set(account, {
      lagMs: typeof ageMs === 'number' ? Math.max(lagMs ?? 0, ageMs) : lagMs,
      error: error ?? lastError,
    });
  }
  return summaries;
}

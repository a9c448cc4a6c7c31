import type { Command } from 'commander';
import { asString, getPath, type JsonValue } from '#core/json.ts';
import type { ApiAnswer, ApiClient } from '../api-client.ts';
import { type CheckRow, collect, describeHealth, hasFailed, printChecks } from '../check-table.ts';
import { ApiError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { formatDuration } from '../time.ts';
import type { FoundAccess } from './cluster-access.ts';
import { summarizeAgents } from './listing.ts';
import { type NeededAccess, readNeededAccess } from './needed-access.ts';

/** Options of a check. */
export interface CheckOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

/** Milliseconds by which clocks may differ: headers have seconds, and an answer takes its time. */
const skewMsMax = 5_000;

/** The examples of RBAC, by the names of what they are for. */
const roles = ['read', 'deploy'] as const;

/** Looks at an account. @returns the exit code: 1 when something failed */
export async function checkAccount(
  context: CliContext,
  { name, options }: { readonly name: string; readonly options: CheckOptions },
  command: Command,
): Promise<number> {
  if (options.kubeconfig === undefined && (options.context ?? options.namespace) !== undefined) {
    command.error('error: --context and --namespace go with --kubeconfig');
  }
  const { terminal } = context;
  const client = openClient(context, command);
  const rows: CheckRow[] = [];
  await terminal.wait(
    () => `checking ${name}: ${rows.length} looked at`,
    async () => {
      const skewMs = await checkBusdriver(client, name, rows);
      const { kubeconfig, namespace } = options;
      if (kubeconfig === undefined) return;
      await collect(rows, 'cluster', () =>
        checkCluster({ kubeconfig, context: options.context, skewMs, namespace }, context, rows),
      );
    },
  );
  if (isJsonWanted(command)) terminal.printJson(rows);
  else {
    printChecks(terminal, rows);
    if (options.kubeconfig === undefined && !hasFailed(rows)) {
      terminal.tell(
        'Not looked at: version, rights and clock of the cluster. With --kubeconfig FILE they are.',
      );
    }
  }
  return hasFailed(rows) ? 1 : 0;
}

/**
 * What Busdriver itself says.
 *
 * @returns how far its clock is before ours, ms
 * @throws CliError when it does not answer, or does not have the account
 */
async function checkBusdriver(
  client: ApiClient,
  name: string,
  rows: CheckRow[],
): Promise<number | undefined> {
  const startMs = Date.now();
  const health = await client.send('/health');
  const skewMs = findSkew(health, (startMs + Date.now()) / 2);
  rows.push({ check: 'busdriver', state: 'ok', found: `${client.url} answers` });
  if (skewMs !== undefined) rows.push(toSkewRow('clock of busdriver', skewMs, 'this machine'));
  const account = await client.get(`/credentials/${encodeURIComponent(name)}`);
  const provider = asString(getPath(account, 'cloudProvider')) ?? 'unknown';
  rows.push({ check: 'account', state: 'ok', found: `known, of provider ${provider}` });
  rows.push(...(await listHealthRows(client, name)));
  rows.push(toAgentRow(await client.get('/cache/introspection'), name));
  return skewMs;
}

/** How far a server's clock is before ours, ms; undefined where its answer has no date. @param nowMs ours when it answered */
export function findSkew({ headers }: ApiAnswer, nowMs: number): number | undefined {
  const timeMs = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(timeMs) ? undefined : timeMs - nowMs;
}

/** Whether clocks agree. @param skewMs how far one is before the other @param other whose clock it is compared with */
export function toSkewRow(check: string, skewMs: number, other: string): CheckRow {
  const size = Math.abs(skewMs);
  if (size <= skewMsMax) return { check, state: 'ok', found: `within ${skewMsMax / 1_000}s of ${other}` };
  const found = `${formatDuration(size)} ${skewMs > 0 ? 'before' : 'behind'} ${other}`;
  return { check, state: 'failed', found, next: 'set the clocks by NTP: tokens are refused by wrong ones' };
}

/** The state of the account; nothing where the server has no such route. */
async function listHealthRows(client: ApiClient, name: string): Promise<readonly CheckRow[]> {
  let health: JsonValue | undefined;
  try {
    health = await client.get(`/credentials/${encodeURIComponent(name)}/health`);
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 405].includes(error.status)) return [];
    throw error;
  }
  const { state, found } = describeHealth(health);
  const outcome = state === 'UP' ? 'ok' : state === 'UNKNOWN' ? 'unknown' : 'failed';
  return [{ check: 'state', state: outcome, found }];
}

/** Whether the cluster was reached: by its caching agents. */
function toAgentRow(agents: JsonValue | undefined, name: string): CheckRow {
  const { lagMs, error } = summarizeAgents(agents).get(name) ?? {};
  const check = 'caching';
  if (error !== undefined) {
    return { check, state: 'failed', found: error, next: 'see each agent at GET /cache/introspection' };
  }
  if (lagMs === undefined) {
    return { check, state: 'unknown', found: 'not read yet', next: 'look again in a minute' };
  }
  return { check, state: 'ok', found: `the cluster is read, ${formatDuration(lagMs)} behind at most` };
}

/** Dependencies of checking a cluster. */
export interface ClusterSubject {
  readonly kubeconfig: string;
  /** A context of it. Default: the current one. */
  readonly context: string | undefined;
  /** How far Busdriver's clock is before ours. */
  readonly skewMs: number | undefined;
  /** The namespace that the account is bounded to; undefined for one that reads all, and deploys into that of the context. */
  readonly namespace: string | undefined;
}

/** Calls a cluster: its version, its clock, and the rights there. @throws CliError where it does not answer */
export async function checkCluster(
  { skewMs = 0, namespace, ...choice }: ClusterSubject,
  context: Pick<CliContext, 'environment' | 'terminal'>,
  rows: CheckRow[],
): Promise<void> {
  // Commands that call no cluster start without what that takes.
  const { openCaller } = await import('./cluster-access.ts');
  await using cluster = await openCaller(choice, context);
  const startMs = Date.now();
  const { version, timeMs } = await cluster.getVersion();
  const ownMs = (startMs + Date.now()) / 2;
  rows.push({ check: 'cluster', state: 'ok', found: `answers, version ${version}` });
  if (timeMs !== undefined)
    rows.push(toSkewRow('clock of the cluster', timeMs - ownMs - skewMs, "Busdriver's"));
  for (const role of roles) {
    const needed = await readNeededAccess(role);
    const where = role === 'deploy' ? (namespace ?? cluster.namespace) : namespace;
    const found: FoundAccess[] = [];
    for (const each of needed) found.push(await cluster.review(each, isNamespaced(each) ? where : undefined));
    rows.push(...toAccessRows(role, found, where));
  }
}

function isNamespaced({ group, resource }: Pick<NeededAccess, 'group' | 'resource'>): boolean {
  return !(group === '' && resource === 'namespaces');
}

/** A row for all that is allowed, or one for each resource with what is missing. */
function toAccessRows(
  role: string,
  found: readonly FoundAccess[],
  namespace: string | undefined,
): CheckRow[] {
  const check = `rights to ${role}`;
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  const lacking = found.filter(({ missing }) => missing.length > 0);
  if (lacking.length === 0) {
    const verbs = found.reduce((sum, each) => sum + each.verbs.length, 0);
    return [{ check, state: 'ok', found: `all ${verbs} of docs/examples/rbac-${role}.yaml ${where}` }];
  }
  const rows = lacking.map(({ group, resource, missing }): CheckRow => {
    const name = group === '' ? resource : `${resource}.${group}`;
    const place = isNamespaced({ group, resource }) ? ` ${where}` : '';
    return { check, state: 'failed', found: `${name}: no ${missing.join(', ')}${place}` };
  });
  const [first, ...others] = rows;
  const next = `apply docs/examples/rbac-${role}.yaml, or what of it you need`;
  return first === undefined ? [] : [{ ...first, next }, ...others];
}

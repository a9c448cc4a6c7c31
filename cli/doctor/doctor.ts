import type { Command } from 'commander';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import packageJson from '#package.json' with { type: 'json' };
import { checkCluster, findSkew, toSkewRow } from '../accounts/check.ts';
import { type ListedAccount, readAccounts } from '../accounts/listing.ts';
import type { ApiClient } from '../api-client.ts';
import { type CheckRow, collect, hasFailed, printChecks } from '../check-table.ts';
import { ApiError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { formatDuration } from '../time.ts';
import { checkAws, checkDisk, checkSettings } from './machine-checks.ts';

/** What to look at besides the Busdriver at `--url`. */
export interface DoctorOptions {
  readonly dataDir: string;
  readonly config?: readonly string[];
  /** With commas between. */
  readonly profiles: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly aws?: boolean;
}

/** Accounts in trouble that have a row of their own. */
const accountsMax = 20;

/** Milliseconds after which an open task is worth a look. */
const longMs = 900_000;

/** Looks for what is wrong, from the disk to the clusters. @returns the exit code: 1 when something is */
export async function examine(context: CliContext, options: DoctorOptions, command: Command): Promise<0 | 1> {
  if (options.kubeconfig === undefined && options.context !== undefined)
    command.error('error: --context goes with --kubeconfig');
  const { terminal, environment } = context;
  const client = openClient(context, command);
  const rows: CheckRow[] = [];
  await terminal.wait(
    () => `${rows.length} looked at`,
    async () => {
      rows.push(...(await checkDisk(options.dataDir)));
      const { config, kubeconfig } = options;
      const names = config && (await checkSettings({ ...options, files: config, environment }, rows));
      let skewMs: number | undefined;
      await collect(rows, 'busdriver', async () => {
        skewMs = await checkServer(client, rows);
        await checkAccounts(client, names ?? [], rows);
        await checkTasks(client, rows);
      });
      if (kubeconfig !== undefined)
        await collect(rows, 'cluster', () =>
          checkCluster({ kubeconfig, context: options.context, skewMs, namespace: undefined }, context, rows),
        );
      if (options.aws) rows.push(...(await checkAws(environment)));
    },
  );
  if (isJsonWanted(command)) terminal.printJson(rows);
  else printChecks(terminal, rows);
  return hasFailed(rows) ? 1 : 0;
}

/** @returns how far its clock is before ours, ms */
async function checkServer(client: ApiClient, rows: CheckRow[]): Promise<number | undefined> {
  const startMs = Date.now();
  const page = await client.send('/');
  const skewMs = findSkew(page, (startMs + Date.now()) / 2);
  const [name, version] = ['name', 'version'].map((member) => asString(getPath(page.body, member)));
  const found = `${client.url} answers: ${name ?? 'no Busdriver'} ${version ?? ''}`;
  const isSame = version === packageJson.version;
  rows.push({
    check: 'busdriver',
    state: isSame ? 'ok' : 'unknown',
    found,
    ...(!isSame && { next: `this command is ${packageJson.version}: use that of the server's release` }),
  });
  if (skewMs !== undefined) rows.push(toSkewRow('clock of busdriver', skewMs, 'this machine'));
  rows.push(await checkManager(client));
  return skewMs;
}

async function checkManager(client: ApiClient): Promise<CheckRow> {
  const check = 'your rights';
  try {
    await client.get('/credentials/type/kubernetes?limit=1');
    return { check, state: 'ok', found: 'you may add and change accounts' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const { message, next } = error;
    return {
      check,
      state: 'unknown',
      found: `accounts are not yours to change: ${message}`,
      ...(next && { next }),
    };
  }
}

/** A row for each account in trouble, and one for all others. @param configured names of accounts of the settings */
async function checkAccounts(
  client: ApiClient,
  configured: readonly string[],
  rows: CheckRow[],
): Promise<void> {
  const accounts = await readAccounts(client);
  const known = new Set(accounts.map(({ name }) => name));
  const missing = await Promise.all(
    configured
      .filter((name) => !known.has(name))
      .slice(0, accountsMax)
      .map((name) => readMissing(client, name)),
  );
  const sick = [...missing, ...accounts.filter(isSick)];
  rows.push(
    ...sick.slice(0, accountsMax).map(
      ({ name, state = 'unknown', reason }): CheckRow => ({
        check: `account ${name}`,
        state: 'failed',
        found: reason === undefined ? state : `${state}: ${reason}`,
        next: state === 'REJECTED' ? 'mend its settings' : `busdriver accounts check ${name}`,
      }),
    ),
  );
  const rest = sick.length > accountsMax ? `, and ${sick.length - accountsMax} more in trouble` : '';
  const lagMs = Math.max(0, ...accounts.map((account) => account.lagMs ?? 0));
  const well = accounts.length - accounts.filter(isSick).length;
  rows.push({
    check: 'accounts',
    state: accounts.length === 0 ? 'unknown' : sick.length > 0 ? 'failed' : 'ok',
    found: `${well} of ${accounts.length} without trouble, ${formatDuration(lagMs)} behind at most${rest}`,
    ...(accounts.length === 0 && { next: 'busdriver accounts add --help' }),
  });
}

function isSick({ state, reason }: ListedAccount): boolean {
  return !['UP', 'UNKNOWN', undefined].includes(state) || reason !== undefined;
}

/** An account that the settings have and the server has not: its health may say why. */
async function readMissing(client: ApiClient, name: string): Promise<ListedAccount> {
  const health = await client.get(`/credentials/${encodeURIComponent(name)}/health`).catch(toNothing);
  const state = asString(getPath(health, 'state')) ?? 'REJECTED';
  const reason =
    asString(getPath(health, 'reason')) ?? 'the server does not have it: does it read this file?';
  return { name, provider: 'kubernetes', state, reason };
}

function toNothing(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

/** Whether a task is open for long, and what it says. */
async function checkTasks(client: ApiClient, rows: CheckRow[]): Promise<void> {
  const open = asJsonArray(getPath(await client.get('/tasks?state=STARTED&limit=200'), 'tasks'));
  const durationOf = (task: JsonValue) => Number(getPath(task, 'durationMs') ?? 0);
  const long = open.filter((task) => durationOf(task) > longMs);
  const [oldest] = long.toSorted((one, other) => durationOf(other) - durationOf(one));
  if (oldest === undefined)
    return void rows.push({ check: 'tasks', state: 'ok', found: `${open.length} open` });
  const [id, status] = ['id', 'status'].map((member) => asString(getPath(oldest, member)) ?? '');
  const since = formatDuration(durationOf(oldest));
  rows.push({
    check: 'tasks',
    state: 'unknown',
    found: `${long.length} open for long; ${id} for ${since}: ${status}`,
    next: `busdriver task ${id}`,
  });
}

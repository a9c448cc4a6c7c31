import type { Command } from 'commander';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import { ApiClient } from '../api-client.ts';
import { ApiError, CliError } from '../cli-error.ts';
import { type CliContext, type GlobalOptions, isJsonWanted, openClient } from '../context.ts';
import { printTable } from '../table.ts';
import type { Style } from '../terminal.ts';
import {
  type ImportedAccount,
  type ImportSource,
  readProviders,
  readSettings,
  readStore,
} from './import-sources.ts';

/** Options of an import. */
export interface ImportOptions {
  readonly goClouddriver?: string;
  readonly clouddriver?: string;
  readonly file?: string;
  readonly profiles: string;
  readonly replace?: true;
  readonly dryRun?: true;
}

/** The outcome for an account. */
interface Outcome {
  readonly name: string;
  readonly outcome: 'created' | 'saved' | 'exists' | 'failed' | 'readable';
  /** Why it failed. */
  readonly reason?: string;
}

const outcomeStyles: { readonly [outcome: string]: Style } = {
  created: 'green',
  saved: 'green',
  exists: 'dim',
  failed: 'red',
};

/** Imports accounts into the store. @returns the exit code: 1 when one failed */
export async function importAccounts(
  context: CliContext,
  options: ImportOptions,
  command: Command,
): Promise<number> {
  const { terminal } = context;
  const source = await terminal.wait(
    () => 'reading what there is to import',
    () => readSource(context, options, command),
  );
  for (const warning of source.warnings)
    terminal.tell(`${terminal.styleTold('yellow', 'left out')} ${warning}`);
  const outcomes: Outcome[] = [];
  await terminal.wait(
    () => `importing: ${outcomes.length} of ${source.accounts.length}`,
    async () => {
      const client = openClient(context, command);
      for (const account of source.accounts)
        outcomes.push(await importAccount(account, { client, source, options }));
    },
  );
  if (isJsonWanted(command)) terminal.printJson(outcomes);
  else {
    printTable(terminal, {
      headings: ['NAME', 'OUTCOME', 'REASON'],
      rows: outcomes.map(({ name, outcome, reason = '' }) => {
        const style = outcomeStyles[outcome];
        return [name, style ? { text: outcome, style } : outcome, reason];
      }),
    });
  }
  const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const tally = ['created', 'saved', 'exists', 'readable', 'failed'].filter((each) => count(each) > 0);
  terminal.tell(tally.map((each) => `${count(each)} ${each}`).join(', ') || 'there is nothing to import');
  return count('failed') > 0 ? 1 : 0;
}

async function readSource(
  context: CliContext,
  { goClouddriver, clouddriver, file, profiles }: ImportOptions,
  command: Command,
): Promise<ImportSource> {
  const { environment } = context;
  const { user } = command.optsWithGlobals<GlobalOptions>();
  const openOther = (url: string) =>
    new ApiClient({
      url,
      user,
      token: environment['BUSDRIVER_IMPORT_TOKEN'] || undefined,
      nextIfSilent: 'look whether it runs, and can be reached from here',
    });
  if (goClouddriver !== undefined) return readProviders(openOther(goClouddriver));
  if (clouddriver !== undefined) return readStore(openOther(clouddriver));
  if (file === undefined)
    command.error('error: expected one of --go-clouddriver, --clouddriver, --file, got none');
  const active = profiles.split(',').map((profile) => profile.trim());
  return readSettings({ file, profiles: active.filter((profile) => profile !== ''), environment });
}

/** Dependencies of importing an account. */
interface ImportTarget {
  readonly client: ApiClient;
  readonly source: ImportSource;
  readonly options: ImportOptions;
}

async function importAccount(
  { name, define }: ImportedAccount,
  { client, source, options }: ImportTarget,
): Promise<Outcome> {
  try {
    const body = await define();
    if (options.dryRun) return { name, outcome: 'readable' };
    await client.send(source.path, { method: options.replace ? 'PUT' : 'POST', body });
    return { name, outcome: options.replace ? 'saved' : 'created' };
  } catch (error) {
    if (isTaken(error)) return { name, outcome: 'exists' };
    if (!(error instanceof CliError || error instanceof VisibleError)) throw error;
    return { name, outcome: 'failed', reason: describeFailure(error) };
  }
}

function isTaken(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 409 || (error.status === 400 && /which already exists/.test(error.message));
}

function describeFailure(error: Error): string {
  const next = error instanceof CliError ? error.next : undefined;
  return next === undefined ? getErrorMessage(error) : `${getErrorMessage(error)} (${next})`;
}

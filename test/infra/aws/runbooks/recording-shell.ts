import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { tablesFileName } from '#infra/local/local-engines.ts';
import { tables } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);

/** A program that was started, by its name, with its arguments. */
export type Call = readonly [program: string, ...args: string[]];

/** What came of commands. */
export interface ShellRun {
  readonly calls: readonly Call[];
  readonly stdout: string;
}

/** What a shell finds. */
export interface ShellOptions {
  /** Programs of ours by name, as shell scripts, in the place of those that note how they were called and answer `answer`. */
  readonly programs?: { readonly [name: string]: string };
  readonly env?: { readonly [name: string]: string };
}

/** Programs that are not to be run by a test. */
const recorded = ['aws', 'curl', 'git', 'kubectl', 'node', 'npm', 'npx', 'openssl'];

/** Between arguments, and between calls: characters that no page has. */
const separators = { argument: '\u001f', call: '\u001e' } as const;

/**
 * Runs commands in a shell that stops at the first failure and at unknown variables, in a folder that vanishes. Programs that reach
 * out are noted instead of being run.
 *
 * @throws Error when it ends with another code than 0, with what it wrote
 */
export async function runRecorded(
  text: string,
  { programs = {}, env = {} }: ShellOptions = {},
): Promise<ShellRun> {
  await using dir = await makeTempDir();
  const [bin, home, log] = ['bin', 'home', 'calls'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([bin, home].map((path) => mkdir(path)));
  await writeFile(log, '');
  for (const name of new Set([...recorded, ...Object.keys(programs)])) {
    const body = programs[name] ?? 'echo answer';
    await writeFile(join(bin, name), `#!/bin/sh\n${toNote(name)}\n${body}\n`);
    await chmod(join(bin, name), 0o755);
  }
  await prepare(home);
  const variables = { CALLS: log, HOME: home, URL: 'https://clouddriver.example.com', ...env };
  const { stdout } = await run('/bin/sh', ['-eu', '-c', text], {
    cwd: home,
    timeout: 120_000,
    env: { PATH: [bin, '/usr/bin', '/bin'].join(delimiter), ...variables },
  });
  const calls = (await readFile(log, 'utf8')).split(separators.call).slice(0, -1);
  return { stdout, calls: calls.map((call) => call.split(separators.argument).slice(0, -1) as [string]) };
}

/** Notes a call by one write: programs of a pipe note theirs at the same time. */
function toNote(name: string): string {
  const each = `printf '%s${separators.argument}' ${name} "$@"`;
  return `call=$(${each}); printf '%s${separators.call}' "$call" >> "$CALLS"`;
}

/** What commands expect in their folder. */
async function prepare(folder: string): Promise<void> {
  await mkdir(join(folder, 'busdriver'));
  await mkdir(join(folder, '.busdriver'));
  // As `npm start` leaves it.
  const file = join(folder, '.busdriver', tablesFileName);
  await new TableEngine({ file, tables, log: silentLog })[Symbol.asyncDispose]();
  for (const name of [
    'clouddriver.yml',
    'artifacts.yml',
    'edge-kubeconfig.yaml',
    'edge-kubeconfig',
    'example',
  ])
    await writeFile(join(folder, name), '{}\n');
}

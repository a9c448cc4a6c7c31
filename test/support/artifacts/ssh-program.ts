import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, writeProgram } from '../run/temp-dir.ts';

/** One call of the program. */
export interface SshCallRecord {
  readonly args: readonly string[];
  /** What it had in its environment. */
  readonly environment: ReadonlyMap<string, string>;
  readonly pid: number;
}

/** A program `ssh` that calls nobody: it runs what the host would run on this machine. Disposing of it removes it. */
export interface SshProgram extends AsyncDisposable {
  /** A folder for what its script writes. */
  readonly folder: string;
  /** An environment in which it is the `ssh`. */
  readonly environment: { readonly PATH: string; readonly SECRET_OF_PROCESS: string };
  /** Its calls so far, the first one first. */
  listCalls(): Promise<readonly SshCallRecord[]>;
}

/** What it does: like a host that takes over variables, and one that takes none. */
export const sshScripts = { newHost: 'eval "$command"', oldHost: 'unset GIT_PROTOCOL; eval "$command"' };

/** @param script lines for `sh` which know the command for the host as `command`, and a folder of theirs as `folder`. */
export async function writeSshProgram(script: string): Promise<SshProgram> {
  const dir = await makeTempDir();
  const bin = join(dir.path, 'bin');
  const calls = join(dir.path, 'calls');
  await mkdir(bin);
  await mkdir(calls);
  const lines = [
    `folder='${dir.path}'`,
    // Files sort by when they were made.
    `call="${calls}/$(date +%s%N)"`,
    'echo $$ > "$call.part"',
    'env | base64 -w0 >> "$call.part"',
    'echo >> "$call.part"',
    'for arg in "$@"; do printf "%s" "$arg" | base64 -w0 >> "$call.part"; echo >> "$call.part"; command="$arg"; done',
    'mv "$call.part" "$call"',
    script,
  ];
  await writeProgram(join(bin, 'ssh'), lines.join('\n'));
  return {
    folder: dir.path,
    environment: { PATH: `${bin}:${process.env['PATH']}`, SECRET_OF_PROCESS: 'planted' },
    async listCalls() {
      const files = (await readdir(calls)).filter((name) => !name.endsWith('.part')).sort();
      return Promise.all(files.map(async (name) => parseCall(await readFile(join(calls, name), 'utf8'))));
    },
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

function parseCall(text: string): SshCallRecord {
  const [pid, environment = '', ...args] = text.trimEnd().split('\n');
  const entries = decode(environment)
    .split('\n')
    .map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]);
  return { pid: Number(pid), environment: new Map(entries), args: args.map(decode) };
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

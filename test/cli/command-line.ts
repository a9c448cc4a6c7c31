import { spawn } from 'node:child_process';
import path from 'node:path';

/** The command, as `npx busdriver` and `npm run busdriver` run it. */
export const launcher = path.resolve(import.meta.dirname, '../../cli/busdriver');

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  /** Without lines that tell what is waited for: on a busy machine any command may have some. */
  readonly stderr: string;
  /** Those lines. */
  readonly progress: readonly string[];
}

/** Runs `busdriver` with these words in a process of its own, whose output is no terminal. @param env variables besides those of the test */
export async function runCommand(
  words: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<CommandEnd> {
  return runProgram(launcher, words, env);
}

/** Runs any program so. Variables that mean something to the command are not passed on. */
export async function runProgram(
  program: string,
  words: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<CommandEnd> {
  const usual = Object.entries(process.env).filter(
    ([name]) => !/^(BUSDRIVER_|FORCE_COLOR|NO_COLOR)/.test(name),
  );
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(usual), ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const lines = output.stderr.split(/(?<=\n)/);
  const isProgress = (line: string) => line.endsWith(' …\n');
  return {
    code,
    stdout: output.stdout,
    stderr: lines.filter((line) => !isProgress(line)).join(''),
    progress: lines.filter(isProgress),
  };
}

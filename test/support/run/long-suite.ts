import { spawn } from 'node:child_process';
import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';

/** A command that runs a folder's suite by vitest, which starts the API server. */
export interface LongSuite<Options> {
  /** As in `npm run soak`. */
  readonly name: string;
  /** The folder, with a `vitest.config.ts` of its own. */
  readonly folder: string;
  readonly help: string;
  parse(args: readonly string[]): Options;
  toEnvironment(options: Options): NodeJS.ProcessEnv;
}

/** Runs it with the arguments of this process, and answers the exit code. */
export async function runLongSuite<Options extends { readonly help: boolean }>(
  suite: LongSuite<Options>,
): Promise<number> {
  try {
    const options = suite.parse(process.argv.slice(2));
    if (!options.help) return await runVitest(suite.folder, suite.toEnvironment(options));
    console.log(suite.help);
    return 0;
  } catch (error) {
    console.error(getErrorMessage(error));
    console.error(`Try 'npm run ${suite.name} -- --help'.`);
    return 2;
  }
}

function runVitest(folder: string, environment: NodeJS.ProcessEnv): Promise<number> {
  const root = path.join(import.meta.dirname, '../../..');
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', path.join(folder, 'vitest.config.ts'), '--root', root];
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
}

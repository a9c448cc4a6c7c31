import path from 'node:path';
import { bypassProxiesOnLoopback } from '#infra/local/loopback-proxy.ts';
import { explainFailure, formatHelp } from '#infra/options.ts';
import { keepFilesPrivate } from '../test-cluster/private-folder.ts';
import { demoProgram, parseDemoOptions } from './demo-options.ts';
import { runDemo } from './demo-run.ts';

process.exitCode = await main(process.argv.slice(2));

/** Runs the command line of `npm run demo`. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseDemoOptions(args);
    if (options.help) {
      console.log(formatHelp(demoProgram));
      return 0;
    }
    keepFilesPrivate();
    bypassProxiesOnLoopback();
    await runDemo({ ...options, mainFile: findMain(), interrupted: watchSignals() });
    return 0;
  } catch (error) {
    return explainFailure(error, demoProgram);
  }
}

/** The program of `npm start`: beside this one in the build, in its own folder in the sources. */
function findMain(): string {
  const isBuilt = import.meta.filename.endsWith('.js');
  return path.join(import.meta.dirname, isBuilt ? 'main.js' : '../../local/main.ts');
}

function watchSignals(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupted.abort(new Error('Interrupted')));
  }
  return interrupted.signal;
}

import path from 'node:path';
import { getErrorMessage } from '../../shared/core/errors.ts';
import { readEnvironment } from '../../shared/runtime/config.ts';
import { UsageError } from './cli-options.ts';
import { formatDemoHelp, parseDemoOptions } from './demo-options.ts';
import { runDemo } from './demo-run.ts';
import { Screen } from './demo-screen.ts';
import { bypassProxiesOnLoopback } from './loopback-proxy.ts';
import { keepFilesPrivate } from './private-folder.ts';

process.exitCode = await main(process.argv.slice(2));

/** Runs the command line of `npm run demo`. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseDemoOptions(args);
    if (options.help) {
      console.log(formatDemoHelp());
      return 0;
    }
    keepFilesPrivate();
    bypassProxiesOnLoopback();
    using screen = new Screen(process.stdout, readEnvironment());
    await runDemo({ ...options, mainFile: findMain(), screen, interrupted: watchSignals() });
    return 0;
  } catch (error) {
    console.error(describe(error));
    if (!(error instanceof UsageError)) return 1;
    console.error("Try 'npm run demo -- --help'.");
    return 2;
  }
}

/** Cleaning up after a failure may fail, too: then both are told. */
function describe(error: unknown): string {
  if (!(error instanceof SuppressedError)) return getErrorMessage(error);
  return `${describe(error.suppressed)}\n${describe(error.error)}`;
}

/** The program of `npm start`, which stands beside this one: `.js` in the build, `.ts` in the sources. */
function findMain(): string {
  return path.join(import.meta.dirname, `main${path.extname(import.meta.filename)}`);
}

function watchSignals(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupted.abort(new Error('Interrupted')));
  }
  return interrupted.signal;
}

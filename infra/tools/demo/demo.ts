import path from 'node:path';
import { bypassProxiesOnLoopback } from '#infra/local/loopback-proxy.ts';
import { runProgram } from '#infra/options.ts';
import { keepFilesPrivate } from '../test-cluster/private-folder.ts';
import { demoProgram, parseDemoOptions } from './demo-options.ts';
import { runDemo } from './demo-run.ts';

/** `npm run demo`. */
await runProgram(demoProgram, parseDemoOptions, async (options) => {
  keepFilesPrivate();
  bypassProxiesOnLoopback();
  await runDemo({ ...options, mainFile: findMain(), interrupted: watchSignals() });
});

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

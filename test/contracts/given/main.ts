import { spawn } from 'node:child_process';
import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';
import { type EngineOptions, engineHelp, parseEngineOptions } from './engine-options.ts';

/** `npm run test:engine`: runs the contracts of stores and queues on engines that it is told, by vitest. */
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseEngineOptions(args);
    if (!options.help) return await runSuites(options);
    console.log(engineHelp);
    return 0;
  } catch (error) {
    console.error(getErrorMessage(error));
    console.error("Try 'npm run test:engine -- --help'.");
    return 2;
  }
}

function runSuites(options: EngineOptions): Promise<number> {
  const root = path.join(import.meta.dirname, '../../..');
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = path.join(import.meta.dirname, 'vitest.config.ts');
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, '--root', root], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ENGINE_OPTIONS: JSON.stringify(options) },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
}

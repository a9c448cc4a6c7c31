import { spawn } from 'node:child_process';
import path from 'node:path';
import { getErrorMessage } from '../../shared/core/errors.ts';
import { formatSoakHelp, parseSoakOptions, type SoakOptions } from './soak-options.ts';

/** `npm run soak`: runs the laboratory, the storm and other long tests by vitest, which starts the API server. */
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseSoakOptions(args);
    if (!options.help) return await runSoak(options);
    console.log(formatSoakHelp());
    return 0;
  } catch (error) {
    console.error(getErrorMessage(error));
    console.error("Try 'npm run soak -- --help'.");
    return 2;
  }
}

function runSoak(options: SoakOptions): Promise<number> {
  const root = path.join(import.meta.dirname, '../..');
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = path.join(import.meta.dirname, 'vitest.config.ts');
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, '--root', root], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      SOAK_OPTIONS: JSON.stringify(options),
      STORM_CHANGES: String(options.changes),
      TEST_SIZE: 'long',
    },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
}

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { getErrorMessage } from '#core/errors.ts';
import { makePackage } from './package.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** `npm run package`: packs `dist/busdriver-VERSION.tgz`, from which `npx busdriver start` runs. */
async function main(): Promise<void> {
  const outputDir = path.join(root, 'dist', 'package');
  await makePackage({ root, outputDir });
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', outputDir], {
    cwd: path.join(root, 'dist'),
  });
  const [{ filename, size }] = JSON.parse(stdout);
  console.log(`dist/${filename}: ${(size / 2 ** 20).toFixed(1)} MiB. Try: npx ./dist/${filename} start`);
}

try {
  await main();
} catch (error) {
  console.error(getErrorMessage(error));
  process.exitCode = 1;
}

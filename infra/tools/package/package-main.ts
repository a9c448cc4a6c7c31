import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';
import { makePackage, packNpm } from './package.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** `npm run package`: packs `dist/busdriver-VERSION.tgz`, from which `npx busdriver start` runs. */
async function main(): Promise<void> {
  const outputDir = path.join(root, 'dist', 'package');
  await makePackage({ root, outputDir });
  const file = path.relative(root, await packNpm(outputDir));
  console.log(`${file}. Try: npx ./${file} start`);
}

try {
  await main();
} catch (error) {
  console.error(getErrorMessage(error));
  process.exitCode = 1;
}

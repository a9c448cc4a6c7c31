import path from 'node:path';
import { runTool } from '../build/run-tool.ts';
import { makePackage, packNpm } from './package.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** `npm run package`: packs `dist/busdriver-VERSION.tgz`, from which `npx busdriver start` runs. */
await runTool(async () => {
  const outputDir = path.join(root, 'dist', 'package');
  await makePackage({ root, outputDir });
  const file = path.relative(root, await packNpm(outputDir));
  console.log(`${file}. Try: npx ./${file} start`);
});

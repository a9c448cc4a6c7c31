import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runTool } from '../build/run-tool.ts';
import { readSbom } from './sbom.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const file = path.join('dist', 'sbom.cdx.json');

/** `npm run sbom`: writes the bill of materials, in CycloneDX. */
await runTool(async () => {
  const sbom = await readSbom(root);
  const target = path.join(root, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, `${JSON.stringify(sbom, undefined, 2)}\n`);
  const required = sbom.components.filter(({ scope }) => scope === 'required').length;
  console.log(
    `${file}: ${required} packages that functions are made of, ${sbom.components.length - required} that build and test them`,
  );
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addedPackages } from '#infra/provider-packages.ts';

/** What esbuild takes in the place of a package, by its name: a file. */
type Aliases = { readonly [name: string]: string };

/** Bundles with the kit for packages with providers, and with those that were added. @returns what `build` returns */
export function bundleProviders<T>(build: (aliases: Aliases) => T): T {
  const kit = { 'busdriver/provider-kit': './shared/provider-kit/kit.ts' };
  if (addedPackages.length === 0) return build(kit);
  const folder = mkdtempSync(join(tmpdir(), 'busdriver-providers-'));
  try {
    const file = join(folder, 'added.mjs');
    const list = (name: string) => addedPackages.map((_, index) => `${name}${index}`).join();
    const lines = addedPackages.map(
      (added, index) =>
        `import { declaration as d${index}, plugin as p${index} } from ${JSON.stringify(added.file)};`,
    );
    lines.push(`export const addedDeclarations = [${list('d')}], addedPlugins = [${list('p')}];`);
    writeFileSync(file, lines.join('\n'));
    return build({ ...kit, '#added-providers': file });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

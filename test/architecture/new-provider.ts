import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '#package.json' with { type: 'json' };
import { root } from './source-files.ts';

const example = join(root, 'test/support/providers/example');

/**
 * Makes the folder of a package with a provider: the example, under another name.
 *
 * @param folder where the package's folder is made
 * @returns the package's folder
 * @throws Error when the name is none of a provider, or the folder is there
 */
export async function makeProvider(name: string, folder: string): Promise<string> {
  if (!/^[a-z][a-z0-9]{0,39}$/.test(name))
    throw new Error(`'${name}': expected small letters and digits, at most 40, a letter first`);
  const packageName = `busdriver-provider-${name}`;
  const target = join(folder, packageName);
  if (existsSync(target)) throw new Error(`${target} exists`);
  await mkdir(target);
  for (const file of ['index.ts', 'index.test.ts']) {
    const text = await readFile(join(example, file), 'utf8');
    await writeFile(join(target, file), text.replaceAll(/\bexample\b/g, name));
  }
  const { version, devDependencies: versions } = packageJson;
  await writeJson(join(target, 'package.json'), {
    ...{ name: packageName, version: '0.1.0', type: 'module', exports: './index.js', files: ['index.js'] },
    ...{ sideEffects: false, scripts: { prepack: 'tsc', test: 'vitest run' } },
    peerDependencies: { busdriver: `^${version}` },
    devDependencies: {
      '@types/node': versions['@types/node'],
      typescript: versions.typescript,
      vitest: versions.vitest,
    },
  });
  await writeJson(join(target, 'tsconfig.json'), {
    compilerOptions: {
      ...{ target: 'ES2024', module: 'NodeNext', types: ['node'], strict: true, skipLibCheck: true },
      ...{ erasableSyntaxOnly: true, verbatimModuleSyntax: true },
    },
    files: ['index.ts'],
  });
  return target;
}

function writeJson(file: string, value: object): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

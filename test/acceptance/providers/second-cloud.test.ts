import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { expectProviderToWork } from '#test/support/providers/running-example.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const root = join(import.meta.dirname, '../../..');
const example = 'test/support/providers/example/index.ts';

/** `npm start` of a folder with the sources. */
const start = (sources: string, ...options: readonly string[]) =>
  [process.execPath, join(sources, 'infra/local/main.ts'), ...options] as const;

describe('a second cloud', () => {
  test('touches two lines outside its folder', async () => {
    await using temp = await makeTempDir();
    for (const path of ['functions', 'infra', 'shared', 'docs/openapi.json', 'package.json', example])
      await cp(join(root, path), join(temp.path, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(temp.path, 'node_modules'));
    const target = join(temp.path, 'shared/providers/example/index.ts');
    await mkdir(dirname(target));
    await cp(join(root, example), target);
    for (const [list, name] of [
      ['plugins', 'plugin as examplePlugin'],
      ['declared', 'declaration as example'],
    ]) {
      const file = join(temp.path, `shared/providers/${list}.ts`);
      const line = `export { ${name} } from './example/index.ts';\n`;
      await writeFile(file, (await readFile(file, 'utf8')) + line);
    }
    await expectProviderToWork({ folder: temp.path, command: start(temp.path) });
  });

  test('touches none as a package', async () => {
    await using temp = await makeTempDir();
    await installPackage(temp.path, 'machines', await readFile(join(root, example), 'utf8'));
    await expectProviderToWork({ folder: temp.path, command: start(root, '--provider', 'machines') });
  });
});

/** Packages that are refused, by what is wrong with them: their main module, and what the error says after their name. */
const wrongPackages = {
  'without a provider': [
    'export const plugin = {};',
    /^expected the exports 'declaration' and 'plugin' of a provider/,
  ],
  'that fails': ["throw new Error('no licence')", /^loading it failed: no licence$/],
  'of another version of the kit': [
    toModule("kit: 2, name: 'other'"),
    /^expected declaration.kit to be 1, .*, not 2$/,
  ],
  'with two names': [
    toModule("kit: 1, name: 'one'"),
    /^expected declaration.name and plugin.name to be one name/,
  ],
  'with a name that is taken': [
    toModule("kit: 1, name: 'kubernetes'", 'kubernetes'),
    /^its provider is called kubernetes, as another one is$/,
  ],
  'with an option that is taken': [
    toModule("kit: 1, name: 'other', awsResources: [{ option: 'clusterArn' }]"),
    /^another provider has its option clusterArns$/,
  ],
} as const;

describe('a package is refused', () => {
  test.each(Object.entries(wrongPackages))('%s', async (_, [module, message]) => {
    await using temp = await makeTempDir();
    await installPackage(temp.path, 'wrong', module);
    expect(await getRefusal(temp.path, 'wrong')).toMatch(message);
  });

  test('that is not installed, and what is none', async () => {
    await using temp = await makeTempDir();
    expect(await getRefusal(temp.path, '@acme/absent')).toMatch(
      `expected an installed package: run npm install @acme/absent in ${temp.path}`,
    );
    expect(await getRefusal(temp.path, '../absent')).toBe("expected a package's name");
  });
});

function toModule(declaration: string, name = 'other'): string {
  return `export const declaration = { ${declaration} }; export const plugin = { name: '${name}', open() {} };`;
}

/** Makes a package there as npm links one of a folder. */
async function installPackage(folder: string, name: string, module: string): Promise<void> {
  const [source, target] = [join(folder, 'source'), join(folder, 'node_modules', name)];
  await mkdir(source);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(join(source, 'index.ts'), module);
  await writeFile(
    join(source, 'package.json'),
    JSON.stringify({ name, type: 'module', exports: './index.ts' }),
  );
  await symlink(source, target);
}

/** What `npm start` says of a package that it does not take. */
async function getRefusal(cwd: string, name: string): Promise<string> {
  const [program, ...args] = start(root, '--provider', name);
  const failed = promisify(execFile)(program, args, { cwd });
  const { code, stderr } = await failed.then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
  expect(code).toBe(1);
  return stderr.replace(`provider package '${name}': `, '').trim();
}

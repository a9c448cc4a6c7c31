import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);
const project = path.resolve(import.meta.dirname, '../../../..');

test('builds once, again after a change, and never twice at a time', async () => {
  await using temp = await makeTempDir();
  const root = await makeProject(temp.path, 'export const handler = async () => 1;');
  const outputDir = path.join(root, 'dist');

  const built = await Promise.all([1, 2, 3].map(() => buildLocal({ root, outputDir })));

  expect(built.filter(Boolean)).toHaveLength(1);
  expect(await buildLocal({ root, outputDir })).toBe(false);
  await writeFile(path.join(root, 'functions', 'one.ts'), 'export const handler = async () => 2;');
  expect(await buildLocal({ root, outputDir })).toBe(true);
  await writeFile(path.join(root, 'functions', 'two.ts'), 'export const handler = async () => 3;');
  expect(await buildLocal({ root, outputDir })).toBe(true);
  expect((await stat(path.join(outputDir, 'main.js'))).isFile()).toBe(true);
});

test('what changed during a build is built again', async () => {
  await using temp = await makeTempDir();
  const root = await makeProject(temp.path, 'export const handler = async () => 1;');
  const outputDir = path.join(root, 'dist');
  const source = path.join(root, 'functions', 'one.ts');
  const later = new Date(Date.now() + 60_000);
  await utimes(source, later, later);
  expect(await buildLocal({ root, outputDir })).toBe(true);
  expect(await buildLocal({ root, outputDir })).toBe(true);
});

test('functions are found by their names, in one chunk', async () => {
  await using temp = await makeTempDir();
  const root = await makeProject(temp.path, 'export const handler = async () => "from one";');
  const outputDir = path.join(root, 'dist');
  await mkdir(path.join(root, 'functions', 'api'));
  await writeFile(
    path.join(root, 'functions', 'api', 'two.ts'),
    'export const handler = async () => "from two";',
  );
  await buildLocal({ root, outputDir });
  const { loadHandler } = await import(path.join(outputDir, 'main.js'));
  expect(await (await loadHandler('one'))()).toBe('from one');
  expect(await (await loadHandler('api/two'))()).toBe('from two');
  for (const name of ['none', 'toString'])
    await expect(loadHandler(name)).rejects.toThrow(`there is no functions/${name}.ts`);
  const chunks = await readdir(path.join(outputDir, 'chunks'));
  expect(chunks.filter((name) => /^(one|two|function-modules)-\w+\.js$/.test(name))).toHaveLength(1);
});

test('what imports node:http does not load the fetch and the WebSocket that Node has, too', async () => {
  await using temp = await makeTempDir();
  const source = "export { Agent as handler } from 'node:http';";
  const root = await makeProject(temp.path, source);
  const outputDir = path.join(root, 'dist');
  await buildLocal({ root, outputDir });
  const list = `await (await import('./main.js')).loadHandler('one'); console.log(process.moduleLoadList.join('\\n'));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', list], { cwd: outputDir });
  expect(stdout.split('\n')).toContain('NativeModule http');
  expect(stdout).not.toContain('undici');
});

test('what does not compile is told with its place, and the next try builds', async () => {
  await using temp = await makeTempDir();
  const root = await makeProject(temp.path, 'export { handler } from "./missing.ts";');
  const outputDir = path.join(root, 'dist');
  await expect(buildLocal({ root, outputDir })).rejects.toThrow(/functions\/one\.ts:1:.*missing\.ts/);
  await writeFile(path.join(root, 'functions', 'one.ts'), 'export const handler = 1;');
  expect(await buildLocal({ root, outputDir })).toBe(true);
});

/** A project with the real loader of functions and one function. */
async function makeProject(dir: string, source: string): Promise<string> {
  const loader = 'infra/server/functions';
  for (const folder of [loader, 'infra/local', 'infra/tools/build', 'functions'])
    await mkdir(path.join(dir, folder), { recursive: true });
  for (const file of ['package.json', `${loader}/handlers.ts`, `${loader}/function-modules.ts`])
    await cp(path.join(project, file), path.join(dir, file));
  await writeFile(
    path.join(dir, 'infra/local/main.ts'),
    "export { loadHandler } from '#infra/server/functions/handlers.ts';",
  );
  await writeFile(path.join(dir, 'infra/tools/build/build.ts'), '');
  await writeFile(path.join(dir, 'package-lock.json'), '{}');
  await writeFile(path.join(dir, 'functions', 'one.ts'), source);
  await symlink(path.join(project, 'node_modules'), path.join(dir, 'node_modules'));
  return dir;
}

import { cp, mkdir, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildLocal } from '../../../infra/local/build.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

const project = path.resolve(import.meta.dirname, '../../..');

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

test('each function is a chunk of its own, found by its name', async () => {
  await using temp = await makeTempDir();
  const root = await makeProject(temp.path, 'export const handler = async () => "from one";');
  const outputDir = path.join(root, 'dist');
  await buildLocal({ root, outputDir });
  const { loadHandler } = await import(path.join(outputDir, 'main.js'));
  expect(await (await loadHandler('one'))()).toBe('from one');
  await expect(loadHandler('none')).rejects.toThrow();
  expect((await readdir(path.join(outputDir, 'chunks'))).some((name) => name.startsWith('one-'))).toBe(true);
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
  const local = path.join(dir, 'infra', 'local');
  await mkdir(local, { recursive: true });
  await mkdir(path.join(dir, 'functions'));
  await cp(path.join(project, 'infra/local/handlers.ts'), path.join(local, 'handlers.ts'));
  await writeFile(path.join(local, 'main.ts'), "export { loadHandler } from './handlers.ts';");
  await writeFile(path.join(local, 'build.ts'), '');
  await writeFile(path.join(dir, 'package-lock.json'), '{}');
  await writeFile(path.join(dir, 'functions', 'one.ts'), source);
  await symlink(path.join(project, 'node_modules'), path.join(dir, 'node_modules'));
  return dir;
}

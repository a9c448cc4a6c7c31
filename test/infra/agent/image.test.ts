import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { memorySettings, nodeOptions } from '../../../infra/local/memory-settings.ts';
import { makeTempDir } from '../../support/temp-dir.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');
const recipe = await readFile(path.join(root, 'infra/agent/Dockerfile'), 'utf8');

/** What the recipe copies from the repository; each path stays what it is. */
function listCopies(): readonly string[] {
  return [...recipe.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
}

test("what the agent's recipe copies is enough to build what it runs, which needs Node alone", async () => {
  await using dir = await makeTempDir();
  const inside = path.join(dir.path, 'build');
  await mkdir(inside);
  for (const each of listCopies())
    await cp(path.join(root, each), path.join(inside, each), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(inside, 'node_modules'));
  const [, command = ''] = /^RUN node (infra\S+)$/m.exec(recipe) ?? [];
  await run(process.execPath, [path.join(inside, command)]);
  const alone = path.join(dir.path, 'busdriver');
  await cp(path.join(inside, 'dist/agent'), alone, { recursive: true });
  for (const [, each = ''] of recipe.matchAll(/^COPY --from=build \/busdriver\/(\S+) \/busdriver\/$/gm))
    await cp(path.join(inside, each), path.join(alone, each));

  const { stdout, stderr } = await run(process.execPath, [path.join(alone, 'main.js'), '--help'], {
    cwd: dir.path,
  });
  expect(stdout).toContain('Usage: node dist/agent/main.js --config FILE');
  expect(stderr).toBe('');
});

test('the agent is run by the memory settings of npm start, and not as root', () => {
  for (const [name, value] of Object.entries(memorySettings)) expect(recipe).toContain(` ${name}=${value}`);
  for (const option of nodeOptions) expect(recipe).toContain(`"${option}"`);
  expect(recipe).toMatch(/^USER 1000:1000$/m);
});

test("what the agent's recipe copies is what is sent to the builder", async () => {
  const ignored = await readFile(path.join(root, 'infra/agent/Dockerfile.dockerignore'), 'utf8');
  for (const each of listCopies()) expect(ignored.split('\n')).toContain(`!${each}`);
});

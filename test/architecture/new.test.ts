import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { additions, guides } from './guides.ts';
import { root } from './source-files.ts';

function run(...args: readonly string[]) {
  const main = join(import.meta.dirname, 'new-main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run new', () => {
  it('lists what there is', () => {
    const { status, stdout } = run();
    expect(status).toBe(0);
    expect([...stdout.matchAll(/^ {2}([a-z0-9-]+)/gm)].map(([, name]) => name)).toEqual(Object.keys(guides));
  });

  it.each(['operation', 'route'])('prints every step of one: %s', (name) => {
    const { status, stdout } = run(name);
    const needs = additions.filter(({ guide }) => guide === name).flatMap(({ listNeeds }) => listNeeds());
    expect(status).toBe(0);
    expect(needs.length).toBeGreaterThan(5);
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(needs.map((need) => `- ${need}`)));
    expect(stdout).toContain(`\n${guides[name]?.split('\n').at(-1)}\n`);
  });

  it.each([
    [['gizmo'], "there is no 'gizmo'"],
    [['operation', 'labelManifest'], 'one name is expected'],
    [['provider', 'Wrong'], "'Wrong': expected small letters and digits"],
    [['constructor'], "there is no 'constructor'"],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('guides', () => {
  it('are there for every addition', () => {
    expect(Object.keys(guides)).toEqual(expect.arrayContaining(additions.map(({ guide }) => guide)));
  });

  it('name only files that there are', () => {
    const named = Object.values(guides)
      .join('\n')
      .match(/\b(functions|shared|infra|test|docs)\/[\w./-]*\w/g);
    expect(named?.length).toBeGreaterThan(20);
    expect(named?.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

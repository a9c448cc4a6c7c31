import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findGuide, guideNames } from './guides.ts';
import { providerAdditions } from './provider-additions.ts';
import { routeRules } from './route-rules.ts';
import { settingAdditions } from './setting-additions.ts';
import { root } from './source-files.ts';

const main = join(import.meta.dirname, 'new-main.ts');

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run new', () => {
  it('lists what there is', () => {
    const { status, stdout } = run();
    expect(status).toBe(0);
    expect([...stdout.matchAll(/^ {2}([a-z0-9-]+)/gm)].map(([, name]) => name)).toEqual(guideNames);
  });

  it('prints the steps of one', () => {
    const { status, stdout } = run('operation');
    expect(status).toBe(0);
    expect(stdout).toContain('| docs/openapi.json does not have labelManifest | run npm run openapi |');
  });

  it.each([
    [['gizmo'], "there is no 'gizmo'"],
    [['operation', 'labelManifest'], 'one name is expected'],
    [['constructor'], "there is no 'constructor'"],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('guides', () => {
  it('have every rule', () => {
    const printed = guideNames.map(findGuide).join('\n');
    const steps = [...providerAdditions, ...settingAdditions].flatMap((addition) => addition.steps);
    expect(steps.length).toBeGreaterThan(30);
    const rows = steps.map((step) => `| ${step.join(' | ')} |`);
    expect(rows.filter((row) => !printed.includes(row))).toEqual([]);
    expect(findGuide('route')?.match(/^\| .* \|$/gm)).toHaveLength(routeRules.length + 1);
  });

  it('name only files that there are', () => {
    const lines = guideNames.flatMap((name) => findGuide(name)?.match(/^- .*$/gm) ?? []);
    const named = lines.flatMap(
      (line) => line.match(/\b(functions|shared|infra|test|docs)\/[\w./-]*\w/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

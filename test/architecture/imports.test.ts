import { describe, expect, it } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { importRules } from './import-rules.ts';
import { findImports, listTargets, loadSourceFiles, parseFile, type SourceFile } from './source-files.ts';

const files = loadSourceFiles();
const sources = files.filter(({ path }) => !path.startsWith('test/'));

describe('imports', () => {
  it('obey the import table', () => {
    expect(files.flatMap(findViolations)).toEqual([]);
  });

  it('form no cycle', () => {
    expect(findCycle(new Map(files.map((file) => [file.path, listTargets(file)])))).toBeUndefined();
  });

  it('leave a subject by its name, not by ../', () => {
    const climbing = files.flatMap((file) =>
      findImports(file)
        .filter(({ request }) => request.startsWith('../'))
        .filter(({ target }) => getSubject(target) !== getSubject(file.path))
        .map(({ request }) => `${file.path} imports ${request}: package.json has names for subjects`),
    );
    expect(climbing).toEqual([]);
  });

  it.each([
    ["import { x } from '../../shared/platform/aws/table.ts';", 1],
    ["import type { TaskView } from '../../shared/contract/answers/tasks.ts';", 0],
    ["import { type TaskView } from '../../shared/contract/answers/tasks.ts';", 1],
    ["export { taskSchema } from '../../shared/contract/answers/tasks.ts';", 1],
    ["const tasks = await import('../../shared/contract/answers/tasks.ts');", 1],
    ["import type { ApiRoute } from '../../shared/contract/api-route.ts';", 1],
  ])('of a function: %s', (text, violations) => {
    expect(findViolations(parseFile('functions/api/bad.ts', text))).toHaveLength(violations);
  });
});

describe('a package that users install', () => {
  it('has all that it loads among its dependencies', () => {
    expect(files.flatMap(findDevelopmentPackages)).toEqual([]);
  });

  it.each([
    ["import type { Plugin } from 'esbuild';", []],
    ["import { build } from 'esbuild';", ['cli/bad.ts needs esbuild at run time']],
    ["const library = 'esbuild';", ['cli/bad.ts needs esbuild at run time']],
  ])('needs no package of whose types alone it knows: %s', (text, needed) => {
    expect(findDevelopmentPackages(parseFile('cli/bad.ts', text))).toEqual(needed);
  });
});

describe('@kubernetes/client-node', () => {
  it('is imported for its types, which weigh nothing, and loaded where single calls are made', () => {
    const paths = sources.filter(loadsClient).map(({ path }) => path);
    const loading = /^(cli|infra\/(agent|kubernetes)|shared\/providers\/kubernetes\/calls)\//;
    expect(paths.filter((path) => loading.test(path)).length).toBeGreaterThan(5);
    expect(paths.filter((path) => !loading.test(path))).toEqual([]);
  });

  it.each([
    ["import type { V1Pod } from '@kubernetes/client-node';", false],
    ["import { type V1Pod, Watch } from '@kubernetes/client-node';", true],
    ["await import('@kubernetes/client-node');", true],
  ])('is loaded by %s: %s', (text, isLoaded) => {
    expect(loadsClient(parseFile('shared/bad.ts', text))).toBe(isLoaded);
  });
});

it('modules of threads, and of providers that call AWS, are imported late alone: else bundles do not keep them in files of their own', () => {
  const threads = sources.filter(({ text }) => /^export const location = import\.meta\.url;$/m.test(text));
  const callers = sources.filter(
    (file) =>
      file.path.startsWith('shared/providers/') &&
      listTargets(file).some((target) => target.startsWith('@aws-sdk/')),
  );
  const modules = [...threads, ...callers].map(({ path }) => path);
  expect(modules).toContain('shared/threads/job-thread.ts');
  expect(modules).toContain('shared/providers/kubernetes/eks/eks-service.ts');
  const early = sources.flatMap((file) =>
    findImports(file)
      .filter(({ target, isType, isLate }) => modules.includes(target) && !isType && !isLate)
      .map(({ target }) => `${file.path} imports ${target}: write await import()`),
  );
  expect(early).toEqual([]);
});

/** The folder within which imports are relative. */
function getSubject(path: string): string {
  return /^((shared|infra|test\/(shared|infra)|test)\/)?[^/]+/.exec(path)?.[0] ?? '';
}

/** The packages for development alone that a file of the product imports, or names for a later import. */
function findDevelopmentPackages({ path, text }: SourceFile): string[] {
  if (!/^(functions|shared|cli|infra\/(server|local|kubernetes|agent))\//.test(path)) return [];
  const atRunTime = text.replace(/^import type [^;]*;$/gm, '');
  return Object.keys(packageJson.devDependencies)
    .filter((name) => atRunTime.includes(`'${name}'`) || atRunTime.includes(`'${name}/`))
    .map((name) => `${path} needs ${name} at run time`);
}

function loadsClient(file: SourceFile): boolean {
  return findImports(file).some(
    ({ target, isType }) => !isType && target.startsWith('@kubernetes/client-node'),
  );
}

function findViolations(file: SourceFile): string[] {
  const [found] = Object.entries(importRules).flatMap(([files, may]) => {
    const match = new RegExp(`^(?:${files})`).exec(file.path);
    return match === null ? [] : [may.replace('$1', match[1] ?? '').split(/\s+/)];
  });
  if (found === undefined) return [`${file.path} is where no rule allows a file`];
  const allowed = new RegExp(`^(?:${found.join('|') || '$'})`);
  return findImports(file)
    .filter(({ target, isType }) => !allowed.test(target) && !(isType && allowed.test(`type:${target}`)))
    .map(({ target }) => `${file.path} may not import ${target}; it may import: ${found.join(' ')}`);
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of graph.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of graph.keys()) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { type ImportRule, importRules } from './import-rules.ts';
import type { SourceFile } from './source-files.ts';
import {
  findImports,
  findRequests,
  findRunTimeImports,
  loadSourceFiles,
  resolveRequest,
} from './source-files.ts';

/** Node's modules that neither read nor write anything outside the process. */
const pureModules = ['node:buffer', 'node:crypto', 'node:util', 'node:zlib'];

const files = loadSourceFiles();

describe('imports', () => {
  it('obey the import table', () => {
    expect(files.flatMap(findViolations)).toEqual([]);
  });

  it('form no cycle', () => {
    expect(findCycle(new Map(files.map((file) => [file.path, findImports(file)])))).toBeUndefined();
  });

  it('leave a subject by its name, not by ../', () => {
    const climbing = files.flatMap((file) =>
      findRequests(file)
        .filter((request) => request.startsWith('../'))
        .filter((request) => getSubject(resolveRequest(file.path, request)) !== getSubject(file.path))
        .map((request) => `${file.path} imports ${request}: package.json has names for subjects`),
    );
    expect(climbing).toEqual([]);
  });

  it('find a planted violation', () => {
    expect(plant("import { x } from '../../shared/platform/aws/table.ts';")).toHaveLength(1);
  });

  it.each([
    ["import type { TaskView } from '../../shared/contract/answers/tasks.ts';", 0],
    ["import { type TaskView } from '../../shared/contract/answers/tasks.ts';", 1],
    ["import { taskSchema } from '../../shared/contract/answers/tasks.ts';", 1],
    ["export { taskSchema } from '../../shared/contract/answers/tasks.ts';", 1],
    ["const tasks = await import('../../shared/contract/answers/tasks.ts');", 1],
    ["import type { ApiRoute } from '../../shared/contract/api-route.ts';", 1],
  ])('of answers are those of types alone: %s', (text, violations) => {
    expect(plant(text)).toHaveLength(violations);
  });
});

describe('a package that users install', () => {
  it('has all that it loads among its dependencies', () => {
    expect(files.flatMap(findDevelopmentPackages)).toEqual([]);
  });

  it('needs no package of whose types alone it knows', () => {
    const find = (text: string) =>
      findDevelopmentPackages({ path: 'cli/bad.ts', text, parsed: parseSync('bad.ts', text) });
    expect(find("import type { Plugin } from 'esbuild';")).toEqual([]);
    expect(find("import { build } from 'esbuild';")).toEqual(['cli/bad.ts needs esbuild at run time']);
    expect(find("const library = 'esbuild';")).toEqual(['cli/bad.ts needs esbuild at run time']);
  });
});

describe('@kubernetes/client-node', () => {
  it('is imported for its types alone', () => {
    const loading = files.filter(({ path }) => !path.startsWith('test/')).filter(loadsClient);
    expect(loading.map(({ path }) => path)).toEqual([]);
  });

  it('counts as loaded wherever a value of it is imported', () => {
    const load = (text: string) =>
      loadsClient({ path: 'shared/bad.ts', text, parsed: parseSync('bad.ts', text) });
    expect(load("import type { V1Pod } from '@kubernetes/client-node';")).toBe(false);
    expect(load("import { type V1Pod, Watch } from '@kubernetes/client-node';")).toBe(true);
    expect(load("await import('@kubernetes/client-node');")).toBe(true);
  });
});

/** Folder of the schemas of answers. */
const answers = 'shared/contract/answers/';

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

/** The violations of a function with this text. */
function plant(text: string): string[] {
  return findViolations({ path: 'functions/api/bad.ts', text, parsed: parseSync('bad.ts', text) });
}

/** Whether a file loads the package, which is large; its types weigh nothing. */
function loadsClient(file: SourceFile): boolean {
  return findRunTimeImports(file).some((target) => target.startsWith('@kubernetes/client-node'));
}

function findViolations(file: SourceFile): string[] {
  const rule = importRules.find(({ files }) => files.test(file.path));
  if (rule === undefined) return [`${file.path} stands where no rule allows a file`];
  const group = rule.files.exec(file.path)?.[1] ?? '';
  const allowed = rule.may.map((pattern) => new RegExp(`^(?:${pattern.replace('$1', group)})`));
  const atRunTime = findRunTimeImports(file);
  const isAnswerType = (target: string): boolean =>
    rule.answerTypes === true && target.startsWith(answers) && !atRunTime.includes(target);
  const besides = rule.answerTypes === true ? `, and, with import type, ${answers}` : '';
  return findImports(file)
    .filter((target) => !isAllowed(target, { rule, allowed }) && !isAnswerType(target))
    .map((target) => `${file.path} may not import ${target}; it may import: ${rule.may.join(' ')}${besides}`);
}

function isAllowed(
  target: string,
  { rule, allowed }: { rule: ImportRule; allowed: readonly RegExp[] },
): boolean {
  if (target.startsWith('node:')) {
    return rule.node === 'any' || (rule.node === 'pure' && pureModules.includes(target));
  }
  return allowed.some((pattern) => pattern.test(target));
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

import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import type { SourceFile } from './source-files.ts';
import { findImports, findRunTimeImports, getCode, loadSourceFiles } from './source-files.ts';

interface Rule {
  /** Which files the rule is for; the first rule that matches counts. */
  readonly files: RegExp;
  /** What they may import: paths from the root, or packages. `$1` is the first group of `files`. */
  readonly may: readonly string[];
  /** Whether they may, with `import type`, import the types of answers from `shared/contract/answers/`, too. */
  readonly answerTypes?: true;
  /** Modules of Node that they may import: any, only those without input or output, or none. */
  readonly node: 'any' | 'pure' | 'none';
}

/** What may import what. It stands in CONTRIBUTING.md in words: change both. */
const rules: readonly Rule[] = [
  { files: /^functions\/((agent|operator)-)?routes\.ts$/, may: ['functions/route.ts'], node: 'none' },
  { files: /^functions\/(route|queues|schedules)\.ts$/, may: [], node: 'none' },
  {
    files: /^functions\//,
    may: ['shared/core/', 'shared/runtime/', 'shared/agent-protocol/', 'docs/openapi.json'],
    answerTypes: true,
    node: 'none',
  },
  { files: /^shared\/core\//, may: ['shared/core/', 'zod'], answerTypes: true, node: 'none' },
  { files: /^shared\/contract\/answers\//, may: ['shared/contract/answers/', 'zod'], node: 'none' },
  { files: /^shared\/contract\//, may: ['shared/contract/', 'shared/core/', 'zod'], node: 'none' },
  { files: /^shared\/aws\//, may: ['shared/core/', 'shared/aws/', '@aws-sdk/', '@smithy/'], node: 'pure' },
  {
    files: /^shared\/providers\/(index|operation-providers)\.ts$/,
    may: ['shared/core/', 'shared/providers/[^/]+/index\\.ts$'],
    node: 'none',
  },
  {
    files: /^shared\/providers\/account-form\.ts$/,
    may: ['shared/providers/kubernetes/account/go-clouddriver-form.ts'],
    node: 'none',
  },
  {
    files: /^shared\/agent-protocol\//,
    may: ['shared/core/', 'shared/agent-protocol/', 'zod', 'protobufjs'],
    node: 'none',
  },
  { files: /^shared\/threads\//, may: ['shared/core/', 'shared/threads/'], node: 'any' },
  { files: /^shared\/oci\//, may: ['shared/core/', 'shared/threads/', 'shared/oci/'], node: 'any' },
  {
    files: /^shared\/providers\/([^/]+)\//,
    may: [
      ...['shared/core/', 'shared/oci/', 'shared/threads/', 'shared/providers/$1/', 'undici'],
      ...['fast-xml-parser', 'ipaddr.js', 'modern-tar', 'zod', 'yaml', '@kubernetes/client-node'],
    ],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^shared\/runtime\//,
    may: [
      ...['shared/core/', 'shared/aws/', 'shared/providers/', 'shared/runtime/', 'shared/agent-protocol/'],
      ...['functions/routes.ts', 'functions/agent-routes.ts', 'functions/operator-routes.ts', '@middy/'],
      ...['@aws-', 'aws-lambda', 'jose', 'yaml', 'zod'],
    ],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^infra\/local\//,
    may: [
      ...['infra/local/', 'shared/core/', 'shared/runtime/', 'shared/agent-protocol/hint-frames.ts'],
      ...['shared/aws/tables.ts', 'functions/[a-z-]+\\.ts$'],
    ].concat(['@aws-sdk/', 'esbuild', 'ws', 'yaml', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/host\//,
    may: [
      ...['infra/host/', 'infra/local/', 'shared/core/', 'shared/runtime/', 'shared/agent-protocol/'],
      ...['shared/providers/kubernetes/', 'shared/aws/tables.ts', 'functions/[a-z-]+\\.ts$'],
    ].concat(['@aws-sdk/', '@grpc/grpc-js', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/agent\//,
    may: [
      ...['infra/agent/', 'infra/local/build.ts', 'shared/core/', 'shared/agent-protocol/'],
      ...['shared/providers/kubernetes/', 'shared/aws/identity/gateway-signer.ts'],
      ...['shared/runtime/config.ts', 'shared/runtime/garbage.ts', 'shared/runtime/services/logger.ts'],
      ...['shared/runtime/services/system.ts', 'package.json', '@grpc/grpc-js', 'undici', 'yaml'],
    ],
    node: 'any',
  },
  {
    files: /^infra\/check\//,
    may: [
      ...['infra/check/', 'infra/[a-z-]+\\.ts$', 'infra/stacks/', 'shared/core/'],
      ...['shared/runtime/settings/settings.ts', '@aws-sdk/', 'aws-cdk-lib'],
    ],
    node: 'any',
  },
  {
    files: /^infra\//,
    may: [
      ...['infra/', 'shared/core/metrics.ts', 'shared/core/tasks/payload-limit.ts'],
      ...['shared/core/request-limits.ts', 'shared/aws/tables.ts', 'shared/runtime/config.ts'],
      ...['functions/[a-z-]+\\.ts$', 'aws-cdk-lib', 'constructs', 'commander', 'esbuild'],
    ],
    node: 'any',
  },
  {
    files: /^cli\//,
    may: [
      ...['cli/', 'shared/core/', 'shared/runtime/config.ts', 'shared/runtime/services/system.ts'],
      ...['shared/runtime/settings/settings.ts', 'shared/providers/kubernetes/transport/', 'package.json'],
      ...['commander', 'yaml'],
    ],
    node: 'any',
  },
  { files: /^test\//, may: ['.'], node: 'any' },
];

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

  it('find a planted violation', () => {
    expect(plant("import { x } from '../../shared/aws/table.ts';")).toHaveLength(1);
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

describe('shared/core', () => {
  it('takes time and randomness as arguments', () => {
    const guilty = files
      .filter(({ path }) => path.startsWith('shared/core/'))
      .filter((file) =>
        /Date\.now\(|Math\.random\(|new Date\(\)|performance\.now\(|process\./.test(getCode(file)),
      );
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });
});

describe('process.env', () => {
  it('is read in one file', () => {
    const readers = files.filter(
      ({ path, text }) => !path.startsWith('test/') && text.includes('process.env'),
    );
    expect(readers.map(({ path }) => path)).toEqual(['shared/runtime/config.ts']);
  });
});

/** Folder of the schemas of answers. */
const answers = 'shared/contract/answers/';

/** The violations of a function with this text. */
function plant(text: string): string[] {
  return findViolations({ path: 'functions/api/bad.ts', text, parsed: parseSync('bad.ts', text) });
}

/** Whether a file loads the package, which is large; its types weigh nothing. */
function loadsClient(file: SourceFile): boolean {
  return findRunTimeImports(file).some((target) => target.startsWith('@kubernetes/client-node'));
}

function findViolations(file: SourceFile): string[] {
  const rule = rules.find(({ files }) => files.test(file.path));
  if (rule === undefined) return [`${file.path} stands where no rule allows a file`];
  const group = rule.files.exec(file.path)?.[1] ?? '';
  const allowed = rule.may.map((pattern) => new RegExp(`^${pattern.replace('$1', group)}`));
  const atRunTime = findRunTimeImports(file);
  const isAnswerType = (target: string): boolean =>
    rule.answerTypes === true && target.startsWith(answers) && !atRunTime.includes(target);
  const besides = rule.answerTypes === true ? `, and, with import type, ${answers}` : '';
  return findImports(file)
    .filter((target) => !isAllowed(target, { rule, allowed }) && !isAnswerType(target))
    .map((target) => `${file.path} may not import ${target}; it may import: ${rule.may.join(' ')}${besides}`);
}

function isAllowed(target: string, { rule, allowed }: { rule: Rule; allowed: readonly RegExp[] }): boolean {
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

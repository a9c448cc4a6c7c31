import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { findImports, getCode, loadSourceFiles, type SourceFile } from './source-files.ts';

interface Rule {
  /** Which files the rule is for; the first rule that matches counts. */
  readonly files: RegExp;
  /** What they may import: paths from the root, or packages. `$1` is the first group of `files`. */
  readonly may: readonly string[];
  /** Modules of Node that they may import: any, only those without input or output, or none. */
  readonly node: 'any' | 'pure' | 'none';
}

/** What may import what. It stands in CONTRIBUTING.md in words: change both. */
const rules: readonly Rule[] = [
  { files: /^functions\/(routes|queues|schedules)\.ts$/, may: [], node: 'none' },
  { files: /^functions\//, may: ['shared/core/', 'shared/runtime/', 'docs/openapi.json'], node: 'none' },
  { files: /^shared\/core\//, may: ['shared/core/', 'zod'], node: 'none' },
  { files: /^shared\/contract\//, may: ['shared/contract/', 'shared/core/', 'zod'], node: 'none' },
  { files: /^shared\/aws\//, may: ['shared/core/', 'shared/aws/', '@aws-sdk/', '@smithy/'], node: 'pure' },
  {
    files: /^shared\/providers\/index\.ts$/,
    may: ['shared/core/', 'shared/providers/[^/]+/index\\.ts$'],
    node: 'none',
  },
  {
    files: /^shared\/providers\/([^/]+)\//,
    may: ['shared/core/', 'shared/providers/$1/', 'undici', 'ipaddr.js', 'zod', 'yaml'],
    node: 'any',
  },
  {
    files: /^shared\/runtime\//,
    may: [
      'shared/core/',
      'shared/aws/',
      'shared/providers/',
      'shared/runtime/',
      'functions/routes.ts',
      '@middy/',
      '@aws-',
      'aws-lambda',
      'jose',
      'yaml',
      'zod',
    ],
    node: 'any',
  },
  {
    files: /^infra\/local\//,
    may: [
      'infra/local/',
      'shared/core/',
      'shared/runtime/',
      'shared/aws/tables.ts',
      'functions/[a-z]+\\.ts$',
    ].concat(['@aws-sdk/', 'dynalite', 'esbuild', 'yaml', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/check\//,
    may: [
      'infra/check/',
      'infra/[a-z-]+\\.ts$',
      'infra/stacks/',
      'shared/core/',
      'shared/runtime/settings/settings.ts',
      '@aws-sdk/',
      'aws-cdk-lib',
    ],
    node: 'any',
  },
  {
    files: /^infra\//,
    may: [
      'infra/',
      'shared/core/metrics.ts',
      'shared/core/tasks/payload-limit.ts',
      'shared/core/request-limits.ts',
      'shared/aws/tables.ts',
      'shared/runtime/config.ts',
      'functions/[a-z]+\\.ts$',
      'aws-cdk-lib',
      'constructs',
      'esbuild',
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
    const text = "import { x } from '../../shared/aws/table.ts';";
    const planted = { path: 'functions/api/bad.ts', text, parsed: parseSync('bad.ts', text) };
    expect(findViolations(planted)).toHaveLength(1);
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

function findViolations(file: SourceFile): string[] {
  const rule = rules.find(({ files }) => files.test(file.path));
  if (rule === undefined) return [`${file.path} stands where no rule allows a file`];
  const group = rule.files.exec(file.path)?.[1] ?? '';
  const allowed = rule.may.map((pattern) => new RegExp(`^${pattern.replace('$1', group)}`));
  return findImports(file)
    .filter((target) => !isAllowed(target, { rule, allowed }))
    .map((target) => `${file.path} may not import ${target}; it may import: ${rule.may.join(' ')}`);
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

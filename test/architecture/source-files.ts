import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { parseSync } from 'oxc-parser';
import packageJson from '#package.json' with { type: 'json' };

/** The project's folder. */
export const root = join(import.meta.dirname, '..', '..');

/** A TypeScript file of ours with its syntax tree. */
export interface SourceFile {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly parsed: ReturnType<typeof parseSync>;
}

/** Any node of the syntax tree. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const folders = ['cli', 'functions', 'infra', 'shared', 'test'];

let sourceFiles: readonly SourceFile[] | undefined;

/** Every TypeScript file of ours, parsed once for all tests of a worker. */
export function loadSourceFiles(): readonly SourceFile[] {
  sourceFiles ??= parseSourceFiles();
  return sourceFiles;
}

function parseSourceFiles(): readonly SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => loadSourceFile(relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')));
}

function loadSourceFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, parsed: parseSync(path, text) };
}

/** What a file imports: paths from the root for files of ours, names as written for packages. */
export function findImports(file: SourceFile): string[] {
  return findRequests(file).map((request) => resolveRequest(file.path, request));
}

/** What is left of a file's imports when it runs: without those of `import type` and `export type`. */
export function findRunTimeImports(file: SourceFile): string[] {
  const requests = findRequests(file, (statement) => !/^(import|export)\s+type\b/.test(statement));
  return requests.map((request) => resolveRequest(file.path, request));
}

/** Where a request of a file leads: as {@link findImports} has it. */
export function resolveRequest(path: string, request: string): string {
  if (request.startsWith('.')) return posix.join(posix.dirname(path), request);
  const [key, target] =
    Object.entries(packageJson.imports).find(([name]) => request.startsWith(name.replace(/\*$/, ''))) ?? [];
  if (key === undefined || target === undefined) return request;
  return posix.normalize(target.replace('*', request.slice(key.length - 1)));
}

/** What a file imports, as it is written there. */
export function findRequests(
  { parsed, text }: SourceFile,
  isWanted: (statement: string) => boolean = () => true,
): string[] {
  const choose = <T extends { start: number; end: number }>(statements: readonly T[]): T[] =>
    statements.filter(({ start, end }) => isWanted(text.slice(start, end)));
  return [
    ...choose(parsed.module.staticImports).map((one) => one.moduleRequest.value),
    ...choose(parsed.module.staticExports).flatMap((one) =>
      one.entries.map((entry) => entry.moduleRequest?.value).filter((value) => value !== undefined),
    ),
    ...parsed.module.dynamicImports
      .map((one) => text.slice(one.moduleRequest.start, one.moduleRequest.end))
      .filter((literal) => /^['"]/.test(literal))
      .map((literal) => literal.slice(1, -1)),
  ];
}

/** Calls `visit` for every node below, and including, `node`. */
export function walk(node: unknown, visit: (node: SyntaxNode) => void): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const { type } = node as { type?: unknown };
  if (typeof type === 'string') visit(node as SyntaxNode);
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'parent' && typeof value === 'object') walk(value, visit);
  }
}

/** Number of the line on which an offset is, from 1. */
export function getLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The text of a file with its comments blanked: for rules about code. */
export function getCode({ text, parsed }: SourceFile): string {
  let code = text;
  for (const { start, end } of parsed.comments) {
    code = code.slice(0, start) + ' '.repeat(end - start) + code.slice(end);
  }
  return code;
}

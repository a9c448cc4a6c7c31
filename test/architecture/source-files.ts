import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
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

/** An import, or an export from another file. */
export interface Import {
  /** As it is written. */
  readonly request: string;
  /** Path from the root for a file of ours, the name as written for a package. */
  readonly target: string;
  /** By `import type` or `export type`: nothing is left of it when the file runs. */
  readonly isType: boolean;
  /** By `import()`. */
  readonly isLate: boolean;
}

const ignoredFolders = ['node_modules', 'dist', 'coverage', '.git', '.busdriver'];

let allFiles: readonly string[] | undefined;
const texts = new Map<string, string>();
let sourceFiles: readonly SourceFile[] | undefined;

/** Paths of the repository's files that begin so, from its root, with `/`. */
export function listFiles(prefix = ''): string[] {
  allFiles ??= walkFolder('');
  return allFiles.filter((path) => path.startsWith(prefix));
}

function walkFolder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return ignoredFolders.includes(entry.name) ? [] : walkFolder(path);
    return entry.isFile() ? [path] : [];
  });
}

/** The text of a file of the repository; empty where there is none. */
export function readText(path: string): string {
  const file = join(root, path);
  const text = texts.get(path) ?? (existsSync(file) ? readFileSync(file, 'utf8') : '');
  texts.set(path, text);
  return text;
}

/** Every TypeScript file of ours, parsed once for all tests of a worker. */
export function loadSourceFiles(): readonly SourceFile[] {
  sourceFiles ??= listFiles()
    .filter((path) => /^(cli|functions|infra|shared|test)\/.*\.ts$/.test(path))
    .map((path) => parseFile(path, readText(path)));
  return sourceFiles;
}

/** A file with a text, such as one that a test makes up. */
export function parseFile(path: string, text: string): SourceFile {
  return { path, text, parsed: parseSync(path, text) };
}

/** What a file imports. */
export function findImports({ path, text, parsed }: SourceFile): Import[] {
  const { staticImports, staticExports, dynamicImports } = parsed.module;
  const exported = staticExports.flatMap(({ start, end, entries }) =>
    entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [{ start, end, moduleRequest }])),
  );
  const early = [...staticImports, ...exported].map(({ start, end, moduleRequest: { value } }) => {
    return { request: value, isType: /^\w+\s+type\b/.test(text.slice(start, end)), isLate: false };
  });
  const late = dynamicImports
    .map(({ moduleRequest: { start, end } }) => text.slice(start, end))
    .filter((literal) => /^['"]/.test(literal))
    .map((literal) => ({ request: literal.slice(1, -1), isType: false, isLate: true }));
  return [...early, ...late].map((found) => ({ ...found, target: resolveRequest(path, found.request) }));
}

/** Where a file's imports lead. */
export function listTargets(file: SourceFile): string[] {
  return findImports(file).map(({ target }) => target);
}

function resolveRequest(path: string, request: string): string {
  if (request.startsWith('.')) return posix.join(posix.dirname(path), request);
  const [key, target] =
    Object.entries(packageJson.imports).find(([name]) => request.startsWith(name.replace(/\*$/, ''))) ?? [];
  if (key === undefined || target === undefined) return request;
  return posix.normalize(target.replace('*', request.slice(key.length - 1)));
}

/** Calls `visit` for every node below, and including, `node`. */
export function walk(node: unknown, visit: (node: SyntaxNode) => void): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') visit(node as SyntaxNode);
  for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value, visit);
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

import { describe, expect, it } from 'vitest';
import { getLine, loadSourceFiles, type SourceFile, type SyntaxNode, walk } from './source-files.ts';

const functionLinesMax = 70;
const fileLinesMax = 400;
const parametersMax = 3;

/** Tables of data have no logic to split. */
const tables = /(-data|built-in-resources)\.ts$/;

const files = loadSourceFiles();
const sources = files.filter(({ path }) => !path.startsWith('test/'));
const functions = files.flatMap((file) => findFunctions(file).map((found) => ({ file, ...found })));

describe('limits', () => {
  it(`hold for files: ${fileLinesMax} lines`, () => {
    const large = files
      .filter(({ path }) => !tables.test(path))
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > fileLinesMax);
    expect(large).toEqual([]);
  });

  it(`hold for functions: ${functionLinesMax} lines`, () => {
    const large = functions
      .filter(({ lines, node }) => lines > functionLinesMax && !definesTests(node))
      .map(({ file, line, lines }) => `${file.path}:${line} has ${lines} lines`);
    expect(large).toEqual([]);
  });

  it(`hold for parameters: ${parametersMax}`, () => {
    const many = functions
      .filter(({ parameters }) => parameters > parametersMax)
      .map(({ file, line, parameters }) => `${file.path}:${line} takes ${parameters} parameters`);
    expect(many).toEqual([]);
  });
});

describe('docstrings', () => {
  it('stand before every exported declaration', () => {
    const bare = sources.flatMap((file) =>
      findUndocumented(file).map((node) => `${file.path}:${getLine(file.text, node.start)}`),
    );
    expect(bare).toEqual([]);
  });
});

describe('the type checker', () => {
  it('is never told to look away', () => {
    const guilty = files.filter(({ parsed }) =>
      parsed.comments.some(({ value }) => /^\s*(@ts-|biome-ignore)/.test(value)),
    );
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });
});

interface FunctionSize {
  readonly line: number;
  readonly lines: number;
  readonly parameters: number;
  readonly node: SyntaxNode;
}

function findFunctions({ parsed, text }: SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  walk(parsed.program, (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const line = getLine(text, node.start);
    const lines = getLine(text, node.end) - line + 1;
    found.push({ line, lines, parameters: countParameters(node), node });
  });
  return found;
}

/** Calls `it`, `test.each(…)` or the like: a suite is a list of tests, each of which has the limit. */
function definesTests(node: SyntaxNode): boolean {
  let found = false;
  walk(node['body'], (inner) => {
    found ||= inner.type === 'CallExpression' && /^(it|test|describe)([A-Z]|$)/.test(getCalledName(inner));
  });
  return found;
}

/** `it` of `it.each([])('name', run)`. */
function getCalledName(node: SyntaxNode): string {
  const next = (node['callee'] ?? node['object']) as SyntaxNode | undefined;
  return next === undefined ? String(node['name'] ?? '') : getCalledName(next);
}

function countParameters(node: SyntaxNode): number {
  const parameters = node['params'] as { items?: unknown[] } | unknown[];
  return Array.isArray(parameters) ? parameters.length : (parameters.items?.length ?? 0);
}

function findUndocumented({ parsed, text }: SourceFile): SyntaxNode[] {
  const body = parsed.program.body as unknown as readonly SyntaxNode[];
  return body.filter((node) => {
    const declares = node.type === 'ExportNamedDeclaration' && node['declaration'] !== null;
    return declares && !isDocumented(node, { parsed, text });
  });
}

function isDocumented(node: SyntaxNode, { parsed, text }: Pick<SourceFile, 'parsed' | 'text'>): boolean {
  return parsed.comments.some(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= node.start &&
      text.slice(end, node.start).trim() === '',
  );
}

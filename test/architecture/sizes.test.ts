import { expect, it } from 'vitest';
import { getLine, loadSourceFiles, type SourceFile, type SyntaxNode, walk } from './source-files.ts';

const functionLinesMax = 70;
const fileLinesMax = 400;

/** Tables of data have no logic to split. */
const tables = /(-data|built-in-resources)\.ts$/;

const files = loadSourceFiles();

it(`files have ${fileLinesMax} lines at most`, () => {
  const large = files
    .filter(({ path }) => !tables.test(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > fileLinesMax);
  expect(large).toEqual([]);
});

it(`functions have ${functionLinesMax} lines at most; biome.json limits their parameters`, () => {
  expect(files.flatMap(findLargeFunctions)).toEqual([]);
});

it('docstrings are before every exported declaration', () => {
  const sources = files.filter(({ path }) => !path.startsWith('test/'));
  expect(sources.flatMap(findUndocumented)).toEqual([]);
});

it('neither the type checker nor the linter is ever asked to look away', () => {
  const guilty = files.filter(({ parsed }) =>
    parsed.comments.some(({ value }) => /^\s*(@ts-|biome-ignore)/.test(value)),
  );
  expect(guilty.map(({ path }) => path)).toEqual([]);
});

function findLargeFunctions({ path, parsed, text }: SourceFile): string[] {
  const found: string[] = [];
  walk(parsed.program, (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const lines = text.slice(node.start, node.end).split('\n').length;
    if (lines <= functionLinesMax || definesTests(node)) return;
    found.push(`${path}:${getLine(text, node.start)} has ${lines} lines`);
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

function findUndocumented({ path, parsed, text }: SourceFile): string[] {
  const docstrings = parsed.comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
  return parsed.program.body
    .filter((node) => node.type === 'ExportNamedDeclaration' && node.declaration !== null)
    .filter(
      ({ start }) => !docstrings.some(({ end }) => end <= start && text.slice(end, start).trim() === ''),
    )
    .map(({ start }) => `${path}:${getLine(text, start)}`);
}

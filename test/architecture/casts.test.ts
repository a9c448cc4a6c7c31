import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { getLine, loadSourceFiles, type SourceFile, type SyntaxNode, walk } from './source-files.ts';

const stores = loadSourceFiles().filter(({ path }) => /^shared\/[a-z-]+\/aws\//.test(path));

it('nothing in shared/*/aws takes what a service answered for what it should be: item-reader.ts checks it', () => {
  expect(stores.flatMap(findCasts)).toEqual([]);
});

it('casts are found in all their forms, and no `as const` is one', () => {
  const text = 'f(x as string, <string>y, z!, { a: 1 } as const, [2] as const satisfies readonly number[]);';
  expect(findCasts({ path: 'a.ts', text, parsed: parseSync('a.ts', text) })).toHaveLength(3);
});

/** Where a file has casts: `path:line`. `as const` is none. */
function findCasts({ path, text, parsed }: SourceFile): string[] {
  const found: string[] = [];
  walk(parsed.program, (node) => {
    if (isCast(node)) found.push(`${path}:${getLine(text, node.start)}`);
  });
  return found;
}

function isCast(node: SyntaxNode): boolean {
  if (node.type === 'TSTypeAssertion' || node.type === 'TSNonNullExpression') return true;
  return node.type === 'TSAsExpression' && !isConst(node['typeAnnotation'] as SyntaxNode);
}

function isConst(type: SyntaxNode): boolean {
  return (type['typeName'] as SyntaxNode | undefined)?.['name'] === 'const';
}

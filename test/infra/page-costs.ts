import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../architecture/source-files.ts';

/** The text of a page of docs. */
export function readPage(name: string): string {
  return readFileSync(join(root, 'docs', name), 'utf8');
}

/** The cells of the rows of all tables. */
export function findRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-|]+\|$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The amount that a cell says; undefined when it says something else. */
export function readAmount(cell = ''): number | undefined {
  const text = cell.replaceAll('*', '').replaceAll(',', '');
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** What rows of a name and an amount say: prices and quantities. @param column of the amount, behind the name */
export function findValues(rows: readonly string[][], column = 1): Map<string, number> {
  return new Map(
    rows.flatMap((row) => {
      const amount = readAmount(row[column]);
      return /^`\w+`$/.test(row[0] ?? '') && amount !== undefined
        ? [[(row[0] ?? '').slice(1, -1), amount] as const]
        : [];
    }),
  );
}

/** Whether a row has a formula and what that amounts to. */
export function isItem([, formula = '', dollars = '']: readonly string[]): boolean {
  return /^`.+`$/.test(formula) && readAmount(dollars) !== undefined;
}

/** Whether a row has the sum of the items before it. */
export function isSum([, formula, dollars = '']: readonly string[]): boolean {
  return formula === '' && /^\*\*/.test(dollars);
}

/** The value of a sum of products of numbers and names: a second opinion beside the program's own. NaN for a name without a value. */
export function workOut(formula: string, values: ReadonlyMap<string, number>): number {
  const toNumber = (factor: string): number => values.get(factor) ?? Number(factor);
  return formula
    .replaceAll('`', '')
    .split(' + ')
    .map((product) =>
      product
        .split(' × ')
        .map(toNumber)
        .reduce((one, other) => one * other),
    )
    .reduce((one, other) => one + other);
}

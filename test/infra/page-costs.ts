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

/** What rows of a name and an amount say: prices and quantities. */
export function findValues(rows: readonly string[][]): Map<string, number> {
  const named = rows.filter(([name = '', value = '']) => /^`\w+`$/.test(name) && isAmount(value));
  return new Map(named.map(([name = '', value]) => [name.slice(1, -1), Number(value)]));
}

/** Whether a row has a formula and what that amounts to. */
export function isItem([, formula = '', dollars = '']: readonly string[]): boolean {
  return /^`.+`$/.test(formula) && isAmount(dollars);
}

/** Whether a row has the sum of the items before it. */
export function isSum([, formula, dollars = '']: readonly string[]): boolean {
  return formula === '' && /^\*\*/.test(dollars);
}

/** The items whose formula amounts to something else than they say. */
export function findWrongItems(
  rows: readonly string[][],
  values: ReadonlyMap<string, number>,
): readonly string[][] {
  return rows.filter(
    (row) => isItem(row) && evaluate((row[1] ?? '').slice(1, -1), values).toFixed(2) !== row[2],
  );
}

/** The value of a sum of products of numbers and names. */
function evaluate(formula: string, values: ReadonlyMap<string, number>): number {
  const toNumber = (factor: string): number => values.get(factor) ?? Number(factor);
  return formula
    .split(' + ')
    .map((product) =>
      product
        .split(' × ')
        .map(toNumber)
        .reduce((one, other) => one * other),
    )
    .reduce((one, other) => one + other);
}

function isAmount(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

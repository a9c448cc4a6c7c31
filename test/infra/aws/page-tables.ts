import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/architecture/source-files.ts';

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

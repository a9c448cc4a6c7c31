import { expect } from 'vitest';

/** A table of Markdown. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const ruler = `|${head.map(() => '---|').join('')}`;
  const lines = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' '));
  return [lines[0], ruler, ...lines.slice(1)].join('\n');
}

/** The page with a table in its place: between `<!-- generated: NAME -->` and the next `<!-- end -->`. */
export function putTable(text: string, name: string, table: string): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = text.indexOf(begin) + begin.length;
  expect(start).toBeGreaterThan(begin.length);
  return `${text.slice(0, start)}\n${table}\n\n${text.slice(text.indexOf('<!-- end -->', start))}`;
}

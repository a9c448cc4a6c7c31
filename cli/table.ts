import { type Style, type Terminal, toLine } from './terminal.ts';

/** A cell: a text, or one with a style. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** Characters between two columns. */
const gap = '  ';

/**
 * Prints rows below a line of headings, as kubectl does. Texts may come from outside. On a terminal each row is one line: what does not
 * fit is cut.
 */
export function printTable(
  terminal: Terminal,
  { headings, rows }: { readonly headings: readonly string[]; readonly rows: readonly (readonly Cell[])[] },
): void {
  const table = [headings.map((text): Cell => ({ text, style: 'bold' })), ...rows];
  const texts = table.map((row) => row.map(toText));
  const widths = headings.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  for (const row of table) terminal.print(formatRow(terminal, row, widths));
}

function formatRow(terminal: Terminal, row: readonly Cell[], widths: readonly number[]): string {
  let left = terminal.columns ?? Number.POSITIVE_INFINITY;
  const cells = row.map((cell, column) => {
    const isLast = column === row.length - 1;
    const text = isLast ? toText(cell) : toText(cell).padEnd(widths[column] ?? 0) + gap;
    const shown = text.length <= left ? text : `${text.slice(0, Math.max(0, left - 1))}…`.slice(0, left);
    left -= shown.length;
    return typeof cell === 'string' ? shown : terminal.style(cell.style, shown);
  });
  return cells.join('').trimEnd();
}

/** A dash means unknown. */
function toText(cell: Cell): string {
  return toLine(typeof cell === 'string' ? cell : cell.text) || '-';
}

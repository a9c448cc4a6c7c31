/** A table in Markdown, without a line end. */
export function toMarkdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines
    .map((cells, index) => (index === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`))
    .join('\n');
}

/** US dollars to the cent: `1,234.50`. */
export function formatCents(dollars: number): string {
  return dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** US dollars for people: to the cent below ten, else whole ones. */
export function formatDollars(dollars: number): string {
  return dollars < 10 ? formatCents(dollars) : Math.round(dollars).toLocaleString('en-US');
}

/** A quantity to four digits: `0.0876`, `1,234`. */
export function formatQuantity(quantity: number): string {
  if (quantity === 0) return '0';
  const isLarge = Math.abs(quantity) >= 1000;
  return isLarge
    ? Math.round(quantity).toLocaleString('en-US')
    : Number(quantity.toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 12 });
}

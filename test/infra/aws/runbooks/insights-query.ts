import type { LogLine } from './filter-pattern.ts';

type Matcher = (line: LogLine) => boolean;

const field = '`[^`]+`|@?[a-zA-Z][\\w.]*';
const value = `"[^"]*"|'[^']*'|-?\\d+(?:\\.\\d+)?|/.+/`;
const comparison = new RegExp(`^(${field})\\s*(=|!=|>=|<=|>|<|like)\\s*(${value})$`);
const aggregation = /^(count|pct|min|max|sum|avg|latest|earliest)\((.*)\)$/;

/** Aggregations of numbers. */
const ofNumbers = ['pct', 'min', 'max', 'sum', 'avg'];

/**
 * What is wrong with a query of CloudWatch Logs Insights, run over lines: it finds none or all of them, names fields that no line has,
 * or reckons with what is no number. Numbers may be texts, as `parse` extracts them. It reads what our pages use.
 *
 * @throws Error for what it cannot read
 */
export function findQueryProblems(query: string, lines: readonly LogLine[]): string[] {
  let rows = lines;
  const problems: string[] = [];
  for (const command of splitOutside(query, '|')) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(command) ?? [];
    if (name === 'SOURCE') continue;
    if (name === 'filter') {
      const found = rows.filter(compileFilter(rest));
      if (found.length === 0) return [`finds nothing: ${command}`];
      if (found.length === rows.length) problems.push(`leaves nothing out: ${command}`);
      rows = found;
    } else if (name === 'stats') problems.push(...checkStats(rest, { rows, lines }));
    else if (name === 'sort') problems.push(...checkFields([rest.replace(/ (asc|desc)$/, '')], rows));
    else if (name === 'display' || name === 'fields')
      problems.push(...checkFields(rest.split(/\s*,\s*/), rows));
    else throw new Error(`cannot read ${command}`);
  }
  return problems;
}

function compileFilter(text: string): Matcher {
  const any = text.split(/ or /).map((part) => part.split(/ and /).map(compileComparison));
  return (line) => any.some((all) => all.every((matches) => matches(line)));
}

function compileComparison(text: string): Matcher {
  const [, name = '', operator = '', operand = ''] = comparison.exec(text.trim()) ?? [];
  if (name === '') throw new Error(`cannot read the comparison ${text}`);
  const matches = compileOperand(operator, operand);
  return (line) => {
    const found = read(line, name);
    return found !== undefined && matches(found);
  };
}

function compileOperand(operator: string, operand: string): (found: unknown) => boolean {
  if (operator === 'like') {
    const pattern = operand.startsWith('/') ? new RegExp(operand.slice(1, -1)) : undefined;
    return (found) => pattern?.test(String(found)) ?? String(found).includes(operand.slice(1, -1));
  }
  if (/^["']/.test(operand)) {
    if (operator !== '=' && operator !== '!=')
      throw new Error(`${operator} compares numbers, got ${operand}`);
    return (found) => (found === operand.slice(1, -1)) === (operator === '=');
  }
  const number = Number(operand);
  const compare: { readonly [operator: string]: (found: number) => boolean } = {
    '=': (found) => found === number,
    '!=': (found) => found !== number,
    '>': (found) => found > number,
    '>=': (found) => found >= number,
    '<': (found) => found < number,
    '<=': (found) => found <= number,
  };
  return (found) => isNumber(found) && (compare[operator]?.(Number(found)) ?? false);
}

interface Rows {
  readonly rows: readonly LogLine[];
  /** All there are: by what rows are told apart need not be in those that are left. */
  readonly lines: readonly LogLine[];
}

function checkStats(text: string, { rows, lines }: Rows): string[] {
  const [aggregations = '', by = ''] = text.split(/ by /);
  const inner = splitOutside(aggregations, ',').flatMap((part) => {
    const [, name = '', argument = ''] = aggregation.exec(part) ?? [];
    if (name === '') throw new Error(`cannot read the aggregation ${part}`);
    const [expression = ''] = argument.split(',');
    if (expression === '*') return [];
    const named = expression.split(' - ').map((one) => one.trim());
    const isWhole = (row: LogLine): boolean => named.every((one) => isNumber(read(row, one)));
    const isReckoned = !ofNumbers.includes(name) || rows.some(isWhole);
    return [...checkFields(named, rows), ...(isReckoned ? [] : [`${part}: no line has numbers there`])];
  });
  return [...inner, ...(by === '' ? [] : checkFields(by.split(/\s*,\s*/), lines))];
}

function checkFields(names: readonly string[], rows: readonly LogLine[]): string[] {
  return names
    .filter((name) => !rows.some((row) => read(row, name.trim()) !== undefined))
    .map((name) => `no line has ${name.trim()}`);
}

function isNumber(found: unknown): boolean {
  return typeof found === 'number' || (typeof found === 'string' && /^-?\d+(\.\d+)?$/.test(found));
}

/** A field by its path; those with an `@` are of CloudWatch itself. */
function read(line: LogLine, name: string): unknown {
  if (['@timestamp', '@message', '@log'].includes(name)) return name;
  const path = name.startsWith('`') ? [name.slice(1, -1)] : name.split('.');
  return path.reduce<unknown>(
    (found, part) => (typeof found === 'object' && found !== null ? Reflect.get(found, part) : undefined),
    line,
  );
}

/** Parts of a text between separators that stand outside quotes, patterns and parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts = [''];
  let open = '';
  for (const [index, character] of [...text].entries()) {
    const isPattern = character === '/' && (open === '/' || /like\s*$/.test(text.slice(0, index)));
    if (open !== '') open = character === open ? '' : open;
    else if (/["'`]/.test(character) || isPattern) open = character;
    else if (character === '(') open = ')';
    if (open === '' && character === separator) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

import { getPath, isJsonObject } from '#core/json.ts';

/** A line of a log that is JSON. */
export type LogLine = { readonly [field: string]: unknown };

type Matcher = (line: LogLine) => boolean;

/** `$.path`, an operator, and a text in quotes, with `*` for anything, or a number. */
const comparison = /^\$\.([\w.-]+)\s*(=|!=|>=|<=|>|<)\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)$/;

/**
 * Reads a filter pattern of CloudWatch Logs as it matches JSON ("Filter pattern syntax"), as far as our pages use it: comparisons,
 * joined by `&&` or `||`. What is compared with a number must be a number in the line: `"500"` is none.
 *
 * @throws Error for what it cannot read
 */
export function compileFilterPattern(pattern: string): Matcher {
  const [, inner] = /^\{\s*(.*?)\s*\}$/s.exec(pattern) ?? [];
  if (inner === undefined) throw new Error(`expected { … }, got ${pattern}`);
  const any = inner.split(/\s*\|\|\s*/).map((part) => part.split(/\s*&&\s*/).map(compileComparison));
  return (line) => any.some((all) => all.every((matches) => matches(line)));
}

function compileComparison(text: string): Matcher {
  const [, path = '', operator = '', value = ''] = comparison.exec(text) ?? [];
  if (path === '') throw new Error(`expected a comparison, got ${text}`);
  const matches = value.startsWith('"') ? toTextMatcher(operator, value) : toNumberMatcher(operator, value);
  return (line) => matches(isJsonObject(line) ? getPath(line, ...path.split('.')) : undefined);
}

function toTextMatcher(operator: string, quoted: string): (value: unknown) => boolean {
  if (operator !== '=' && operator !== '!=') throw new Error(`${operator} compares numbers, got ${quoted}`);
  const parts = quoted.slice(1, -1).split('*');
  const pattern = new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`, 's');
  return (value) => typeof value === 'string' && pattern.test(value) === (operator === '=');
}

function toNumberMatcher(operator: string, text: string): (value: unknown) => boolean {
  const number = Number(text);
  const compare: { readonly [operator: string]: (value: number) => boolean } = {
    '=': (value) => value === number,
    '!=': (value) => value !== number,
    '>': (value) => value > number,
    '>=': (value) => value >= number,
    '<': (value) => value < number,
    '<=': (value) => value <= number,
  };
  return (value) => typeof value === 'number' && (compare[operator]?.(value) ?? false);
}

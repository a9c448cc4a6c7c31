/** A kind of value that a context option may have. `-c name=value` brings text; `cdk.json` brings numbers and lists too. */
export interface ValueType<T> {
  /** What is expected, in words that follow "expected". */
  readonly expected: string;
  /** The value as this type; undefined when it is none. */
  parse(value: unknown): T | undefined;
}

/** Text of a form. */
export function makeTextType(pattern: RegExp, expected: string): ValueType<string> {
  return {
    expected,
    parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  };
}

/** Name of an npm package. */
export const packageType: ValueType<string> = makeTextType(/^(@[\w.-]+\/)?\w[\w.-]*$/, "a package's name");

/** One of a few words. */
export function makeChoiceType<const T extends string>(...choices: readonly T[]): ValueType<T> {
  return {
    expected: `one of ${choices.join(', ')}`,
    parse: (value) => choices.find((choice) => choice === value),
  };
}

/** `true` or `false`. */
export const flagType: ValueType<boolean> = {
  expected: 'true or false',
  parse(value) {
    if (value === true || value === 'true') return true;
    return value === false || value === 'false' ? false : undefined;
  },
};

/** One of a few whole numbers. */
export function makeNumberType(choices: readonly number[]): ValueType<number> {
  return {
    expected: `one of ${choices.join(', ')}`,
    parse: (value) => choices.find((choice) => String(choice) === String(value)),
  };
}

/** A whole number. */
export function makeIntegerType(min: number, max: number): ValueType<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse(value) {
      const number = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

/** A list of at least one item: an array, or text with commas. */
export function makeListType<T>(item: ValueType<T>): ValueType<readonly T[]> {
  return {
    expected: `a list, separated by commas, each ${item.expected}`,
    parse(value) {
      const items = (Array.isArray(value) ? value : toParts(value)).map((part) => item.parse(part));
      const parsed = items.filter((part) => part !== undefined);
      return parsed.length > 0 && parsed.length === items.length ? parsed : undefined;
    },
  };
}

/** Whole numbers by name: `name=number` in a list. */
export function makeCountsType(min: number, max: number): ValueType<ReadonlyMap<string, number>> {
  const isCount = (count: number): boolean => Number.isInteger(count) && count >= min && count <= max;
  return {
    expected: `a list of name=number, separated by commas, each number from ${min} to ${max}`,
    parse(value) {
      const entries = toParts(value).map((part) => /^([a-z-]+)=(\d+)$/.exec(part) ?? []);
      const counts = entries.map(([, name = '', count]) => [name, Number(count)] as const);
      return counts.length > 0 && counts.every(([, count]) => isCount(count)) ? new Map(counts) : undefined;
    },
  };
}

function toParts(value: unknown): readonly string[] {
  if (typeof value !== 'string' || value.trim() === '') return [];
  return value.split(',').map((part) => part.trim());
}

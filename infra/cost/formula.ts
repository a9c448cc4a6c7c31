/** Values by the names that formulas use. */
export type Values = ReadonlyMap<string, number>;

/**
 * The value of a sum of products of numbers and names: `4 × runs × writeUnit + 2 × runs × readUnit`.
 *
 * @throws Error for a name without a value: a line of a bill must not quietly cost nothing.
 */
export function evaluate(formula: string, values: Values): number {
  const toNumber = (factor: string): number => {
    const value = values.get(factor) ?? Number(factor);
    if (Number.isNaN(value)) throw new Error(`the formula '${formula}' has no value for '${factor}'`);
    return value;
  };
  return formula
    .split(' + ')
    .map((product) =>
      product
        .split(' × ')
        .map(toNumber)
        .reduce((one, other) => one * other),
    )
    .reduce((one, other) => one + other, 0);
}

/** The names in a formula, each once. */
export function listNames(formula: string): string[] {
  return [...new Set(formula.split(/ [+×] /).filter((factor) => Number.isNaN(Number(factor))))];
}

import { parseArgs } from 'node:util';
import { InvalidInputError } from '#core/errors.ts';

const parts = ['account', 'fleet', 'report'] as const;

export type CapacityPart = (typeof parts)[number];

export interface CapacityOptions {
  readonly help: boolean;
  /** A so many times smaller account, and fewer accounts. */
  readonly divisor: number;
  /** Only a part of it: what it came to is kept for the report. Default: all of it, and the report. */
  readonly part?: CapacityPart;
  readonly report: string;
}

const defaultReport = 'docs/capacity.md';
const smallReport = 'dist/capacity.md';

/**
 * The options of a command line.
 *
 * @throws InvalidInputError that names the option and what was expected.
 */
export function parseCapacityOptions(args: readonly string[]): CapacityOptions {
  const text = { type: 'string' } as const;
  const options = { help: { type: 'boolean' }, divisor: text, part: text, report: text } as const;
  const { values } = parseArgs({ args: [...args], options });
  const divisor = Number(values.divisor ?? 1);
  if (!Number.isInteger(divisor) || divisor < 1 || divisor > 1_000) {
    throw new InvalidInputError('--divisor: expected a whole number from 1 to 1000');
  }
  const part = parts.find((each) => each === values.part);
  if (values.part !== undefined && part === undefined) {
    throw new InvalidInputError(`--part: expected ${parts.join(', ')}`);
  }
  const report = values.report ?? (divisor === 1 ? defaultReport : smallReport);
  return { help: values.help === true, divisor, report, ...(part && { part }) };
}

export const capacityHelp = `npm run capacity -- [options]

Caches one account of 140,000 objects and then a fleet of 1,000 accounts on the local DynamoDB, looks at all that views show of them,
and writes a report of what it cost. It takes some ten minutes on
two quiet processors.

  --divisor <n>   everything so many times smaller; the report then goes to ${smallReport}
  --part <part>   account, fleet, or report: that part alone; the report then tells what the parts came to last
  --report <file> where the report goes (default: ${defaultReport})
  --help          prints this`;

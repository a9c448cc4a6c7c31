import { formatHelp, one, optional, parseOptions, read, UsageError, type Values } from '#infra/options.ts';

const parts = ['account', 'fleet', 'report'] as const;

export type CapacityPart = (typeof parts)[number];

const defaultReport = 'docs/capacity.md';
const smallReport = 'dist/capacity.md';

const options = {
  divisor: one(
    '--divisor <N>=1',
    `everything so many times smaller; the report then goes to ${smallReport}`,
    read.number(1, 1_000),
  ),
  /** What the part came to is kept for the report. Undefined: all of it, and the report. */
  part: optional(
    '--part <PART>',
    `${parts.join(', ')}: that part alone; the report then tells what the parts came to last`,
    parsePart,
  ),
  report: optional('--report <FILE>', `where the report goes (default ${defaultReport})`, read.text),
};

const program = {
  name: 'npm run capacity --',
  about:
    'Caches one account of 140,000 objects and then a fleet of 1,000 accounts on the local DynamoDB, looks at all that views show of ' +
    'them, and writes a report of what it cost. It takes some ten minutes on two quiet processors.',
  options,
};

export interface CapacityOptions extends Omit<Values<typeof options>, 'report'> {
  readonly report: string;
}

/**
 * The options of a command line.
 *
 * @throws UsageError that names the option and what was expected.
 */
export function parseCapacityOptions(args: readonly string[]): CapacityOptions {
  const values = parseOptions(program, args);
  return { ...values, report: values.report ?? (values.divisor === 1 ? defaultReport : smallReport) };
}

function parsePart(text: string, flag: string): CapacityPart {
  const part = parts.find((each) => each === text);
  if (part !== undefined) return part;
  throw new UsageError(`${flag}: expected ${parts.join(', ')}, not '${text}'`);
}

export const capacityHelp = formatHelp(program);

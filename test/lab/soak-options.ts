import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface SoakOptions {
  /** How long things go wrong, minutes. */
  readonly minutes: number;
  readonly operations: number;
  readonly kills: number;
  /** Changes of the storm, which comes afterwards. */
  readonly changes: number;
  readonly seed: number;
  readonly report: string;
  readonly help: boolean;
}

/** What each number may be. */
const bounds = {
  minutes: { least: 1, most: 1_440, usual: 60 },
  operations: { least: 1, most: 100_000, usual: 500 },
  kills: { least: 0, most: 10_000, usual: 30 },
  changes: { least: 100, most: 1_000_000, usual: 5_000 },
  seed: { least: 0, most: 2 ** 31 - 1, usual: undefined },
} as const;

export function formatSoakHelp(): string {
  return [
    'Usage: npm run soak -- [options]',
    '',
    'Runs operations against a real Kubernetes API server while everything around Busdriver fails at once, by a seed: answers of',
    'DynamoDB, SQS and EventBridge are lost after they were acted upon, calls are late, throttled and refused, services are silent,',
    'processes whose clocks are off are killed and stand still, clocks are set, credentials come late, and first fills of the cache are refused',
    'half of their writes. Then looks at every promise, and writes a report.',
    'After that a storm: kubectl changes objects while Busdriver is killed again and again; the cache must equal the cluster.',
    'Then the long forms of the tests of which `npm test` runs a short one, some ten minutes. Needs Go.',
    '',
    `  --minutes N     how long things go wrong (default ${bounds.minutes.usual})`,
    `  --operations N  operations to post meanwhile (default ${bounds.operations.usual})`,
    `  --kills N       processes to kill meanwhile (default ${bounds.kills.usual})`,
    `  --changes N     what the storm changes at least (default ${bounds.changes.usual})`,
    '  --seed N        what goes wrong when follows from it (default: a random one, which is printed)',
    '  --report FILE   where the report goes (default docs/soak.md)',
    '  --help          print this help',
  ].join('\n');
}

/**
 * Parses the arguments of the command.
 *
 * @throws Error that names the option, with what was expected
 */
export function parseSoakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      operations: { type: 'string' },
      kills: { type: 'string' },
      changes: { type: 'string' },
      seed: { type: 'string' },
      report: { type: 'string', default: 'docs/soak.md' },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: parseNumber('minutes', values.minutes),
    operations: parseNumber('operations', values.operations),
    kills: parseNumber('kills', values.kills),
    changes: parseNumber('changes', values.changes),
    seed: parseNumber('seed', values.seed),
    report: values.report,
    help: values.help,
  };
}

function parseNumber(name: keyof typeof bounds, text: string | undefined): number {
  const { least, most, usual } = bounds[name];
  if (text === undefined) return usual ?? randomInt(least, most);
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${name}: expected a whole number from ${least} to ${most}, not '${text}'`);
}

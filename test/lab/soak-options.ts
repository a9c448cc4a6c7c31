import { randomInt } from 'node:crypto';
import { formatHelp, one, optional, parseOptions, read, type Values } from '#infra/options.ts';

const seedMax = 2 ** 31 - 1;

const options = {
  minutes: one('--minutes <N>=60', 'how long things go wrong', read.number(1, 1_440)),
  operations: one('--operations <N>=500', 'operations to post meanwhile', read.number(1, 100_000)),
  kills: one('--kills <N>=30', 'processes to kill meanwhile', read.number(0, 10_000)),
  /** Changes of the storm, which comes afterwards. */
  changes: one('--changes <N>=5000', 'what the storm changes at least', read.number(100, 1_000_000)),
  seed: optional(
    '--seed <N>',
    'what goes wrong when follows from it (default: a random one, which is printed)',
    read.number(0, seedMax),
  ),
  report: one('--report <FILE>=docs/soak.md', 'where the report goes', read.text),
};

const program = {
  name: 'npm run soak --',
  about: `Runs operations against a real Kubernetes API server while everything around Busdriver fails at once, by a seed: \
answers of DynamoDB, SQS and EventBridge are lost after they were acted upon, calls are late, throttled and refused, services \
are silent, processes whose clocks are off are killed and stand still, clocks are set, credentials come late, and first fills of \
the cache are refused half of their writes. Then looks at every promise, and writes a report.
After that a storm: kubectl changes objects while Busdriver is killed again and again; the cache must equal the cluster.
Then the long forms of the tests of which \`npm test\` runs a short one, some ten minutes. Needs Go.`,
  options,
};

export interface SoakOptions extends Omit<Values<typeof options>, 'seed'> {
  readonly seed: number;
}

export function formatSoakHelp(): string {
  return formatHelp(program);
}

/**
 * Parses the arguments of the command.
 *
 * @throws UsageError that names the option, with what was expected
 */
export function parseSoakOptions(args: readonly string[]): SoakOptions {
  const values = parseOptions(program, args);
  return { ...values, seed: values.seed ?? randomInt(seedMax) };
}

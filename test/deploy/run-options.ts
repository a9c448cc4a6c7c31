import { parseArgs } from 'node:util';

/** What `npm run test:deploy` is told. */
export interface RunOptions {
  /** Leave everything running at the end, until Ctrl-C. */
  readonly keep: boolean;
  /** Names of the phases of tests to run; empty for all. */
  readonly only: readonly string[];
  readonly help: boolean;
}

/** The text of `--help`. */
export function formatHelp(phases: readonly string[]): string {
  return [
    'Usage: npm run test:deploy -- [options]',
    '',
    'Deploys the stacks with the real CDK into an emulator of AWS (ministack, in a virtual environment of Python), tests them there,',
    'and destroys them. Needs Python 3.10 with its module venv, and Go for the test control plane; skips itself without them.',
    '',
    '  --keep         leave the API and all behind it running at the end, until Ctrl-C, and tell where it is',
    '  --only=PHASE   run this phase of tests alone, after the deploy (repeatable)',
    '  --help         print this help',
    '',
    `Phases of tests: ${phases.join(', ')}`,
  ].join('\n');
}

/**
 * Parses the arguments of the command.
 *
 * @param phases names of the phases of tests
 * @throws Error for arguments that there are not, with what was expected
 */
export function parseRunOptions(args: readonly string[], phases: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      keep: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.filter((name) => !phases.includes(name));
  if (unknown.length > 0) {
    throw new Error(`--only: expected phases among ${phases.join(', ')}, not ${unknown.join(', ')}`);
  }
  return values;
}

import { formatHelp, many, parseOptions, read, toggle, UsageError, type Values } from '#infra/options.ts';

const options = {
  keep: toggle(
    '--keep',
    'leave the API and all behind it running at the end, until Ctrl-C, and tell where it is',
  ),
  /** Empty for all. */
  only: many('--only <PHASE>', 'run this phase of tests alone, after the deploy', read.text),
};

const program = {
  name: 'npm run test:deploy --',
  about:
    'Deploys the stacks with the real CDK into an emulator of AWS (ministack, in a virtual environment of Python), tests them ' +
    'there, and destroys them. Needs Python 3.10 with its module venv, and Go for the test control plane; skips itself without them.',
  options,
};

/** What `npm run test:deploy` is told. */
export type RunOptions = Values<typeof options>;

/** The text of `--help`. */
export function formatRunHelp(phases: readonly string[]): string {
  return formatHelp({ ...program, notes: ['', `Phases of tests: ${phases.join(', ')}`] });
}

/**
 * Parses the arguments of the command.
 *
 * @param phases names of the phases of tests
 * @throws UsageError for arguments that there are not, with what was expected
 */
export function parseRunOptions(args: readonly string[], phases: readonly string[]): RunOptions {
  const values = parseOptions(program, args);
  const unknown = values.only.filter((name) => !phases.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`--only: expected phases among ${phases.join(', ')}, not ${unknown.join(', ')}`);
  }
  return values;
}

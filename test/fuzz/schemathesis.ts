import { spawn } from 'node:child_process';
import path from 'node:path';

const document = path.resolve(import.meta.dirname, '../../docs/openapi.json');
const hooks = path.resolve(import.meta.dirname, 'hooks.py');

/** How long a call may take, in seconds: more than the longest time-out of a read. */
const requestTimeoutSeconds = 30;
/** How much of its output an error quotes, in characters. */
const outputTailLength = 4_000;

/**
 * Checks that cannot hold: what fits the schemas may name an account or an object that is not there, which is 400; deciding who may
 * call is the front door's; and what was deleted may be there again, for tasks that were accepted before deploy it under its name.
 */
const senselessChecks = [
  'positive_data_acceptance',
  'ignored_auth',
  'object_level_authorization',
  'use_after_free',
];

export interface RunSchemathesisOptions {
  readonly schemathesis: string;
  /** The API, without a slash at the end. */
  readonly url: string;
  /** Its phases, with commas between. */
  readonly phases: string;
  readonly seed: number;
  readonly examples: number;
  /** Checks to leave out besides those that cannot hold. */
  readonly excludedChecks?: readonly string[];
  /** Where it runs, absolute; the set-up lies there, and the log. */
  readonly dir: string;
}

export function getSetupFile(dir: string): string {
  return path.join(dir, 'setup.json');
}

/** What `hooks.py` writes; see `parseFuzzLog`. */
export function getLogFile(dir: string): string {
  return path.join(dir, 'log.jsonl');
}

/**
 * Runs schemathesis once with `hooks.py`.
 *
 * @returns undefined when it ended well, else its exit code with the end of its output
 * @throws Error when the program cannot be started
 */
export async function runSchemathesis(options: RunSchemathesisOptions): Promise<string | undefined> {
  const { schemathesis, dir } = options;
  const child = spawn(schemathesis, toArguments(options), {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: hooks,
      BUSDRIVER_FUZZ_SETUP: getSetupFile(dir),
      BUSDRIVER_FUZZ_LOG: getLogFile(dir),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputTailLength);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  return code === 0 ? undefined : `schemathesis ended with exit code ${code}:\n${output}`;
}

function toArguments({ url, phases, seed, examples, excludedChecks = [] }: RunSchemathesisOptions): string[] {
  return [
    ...['run', document, '--url', url, '--phases', phases, '--seed', String(seed)],
    ...['--max-examples', String(examples), '--exclude-checks'],
    [...senselessChecks, ...excludedChecks].join(','),
    ...['--request-timeout', String(requestTimeoutSeconds), '--generation-database', 'none'],
    ...['--continue-on-failure', '--suppress-health-check', 'all', '--warnings', 'off'],
    ...['--output-sanitize', 'false', '--no-color'],
  ];
}

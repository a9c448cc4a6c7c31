import { one, optional, parseOptions, read, toggle, UsageError, type Values } from '#infra/options.ts';

const parseSeconds = read.number(1, 86_400, ' must be a number of seconds');

const options = {
  /** A running Busdriver, without a slash at the end. */
  url: optional('--url <URL>', 'use the Busdriver that runs there (default: start one)', parseUrl),
  tokenFile: optional('--token-file <FILE>', 'token of the Busdriver at --url', read.file),
  kubeconfig: optional(
    '--kubeconfig <FILE>',
    "deploy to a cluster of yours (default: start a test cluster; $KUBECONFIG isn't read)",
    read.file,
  ),
  account: optional('--account <NAME>', 'account to deploy to, where there are several', read.text),
  namespace: one('--namespace <NAME>=default', 'an existing namespace', read.text),
  timeoutMs: one(
    '--timeout <SECONDS>=120',
    'time from request to stable',
    (text, flag) => 1000 * parseSeconds(text, flag),
  ),
  keep: toggle(
    '--keep',
    'leave the application deployed; a Busdriver that the demo started runs until Ctrl-C',
  ),
};

/** What the command line of the demo says. Paths are absolute. */
export type DemoOptions = Values<typeof options>;

/** `npm run demo`. */
export const demoProgram = {
  name: 'npm run demo --',
  about:
    'Deploys a sample application (ConfigMap, Deployment, Service) through the HTTP API as Orca does, shows the history ' +
    'of its task, watches the rollout until everything is stable, and cleans up.',
  options,
  notes: [
    '',
    'Examples:',
    '  npm run demo',
    '  npm run demo -- --keep',
    '  npm run demo -- --url http://127.0.0.1:7002 --account my-account --namespace test',
    '',
    'Exit codes: 0 all became stable, 1 something did not, 2 wrong command line.',
  ],
};

/** Reads the command line. @param args without the program's own name @throws UsageError naming the option and what it takes */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const values = parseOptions(demoProgram, args);
  if (values.url !== undefined && values.kubeconfig !== undefined) {
    throw new UsageError('--url and --kubeconfig exclude each other: a running Busdriver has its accounts');
  }
  if (values.tokenFile !== undefined && values.url === undefined) {
    throw new UsageError('--token-file needs --url: a Busdriver that the demo starts asks for no token');
  }
  return values;
}

function parseUrl(text: string, flag: string): string {
  if (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text)) return text.replace(/\/$/, '');
  throw new UsageError(
    `${flag} must be an address without a path, such as http://127.0.0.1:7002, not '${text}'`,
  );
}

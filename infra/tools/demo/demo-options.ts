import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '#infra/local/cli-options.ts';

/** What the command line of the demo says. */
export interface DemoOptions {
  /** A running Busdriver, without a slash at the end; undefined to start one. */
  readonly url: string | undefined;
  /** A file with the bearer token of that Busdriver, absolute. */
  readonly tokenFile: string | undefined;
  /** Kubeconfig of the cluster to deploy to, absolute; undefined for a test cluster. */
  readonly kubeconfig: string | undefined;
  /** Undefined takes the only Kubernetes account there is. */
  readonly account: string | undefined;
  readonly namespace: string;
  /** Milliseconds from the request until everything must be stable. */
  readonly timeoutMs: number;
  readonly keep: boolean;
  readonly help: boolean;
}

interface Flag {
  readonly type: 'string' | 'boolean';
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

const flags = {
  url: { type: 'string', value: 'URL', help: 'use the Busdriver that runs there (default: start one)' },
  'token-file': { type: 'string', value: 'FILE', help: 'token of the Busdriver at --url' },
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: "deploy to a cluster of yours (default: start a test cluster; $KUBECONFIG isn't read)",
  },
  account: { type: 'string', value: 'NAME', help: 'account to deploy to, where there are several' },
  namespace: { type: 'string', value: 'NAME', help: 'an existing namespace (default default)' },
  timeout: { type: 'string', value: 'SECONDS', help: 'time from request to stable (default 120)' },
  keep: {
    type: 'boolean',
    help: 'leave the application deployed; a Busdriver that the demo started runs until Ctrl-C',
  },
  help: { type: 'boolean', help: 'print this help' },
} as const satisfies { readonly [name: string]: Flag };

/** The help of `npm run demo`, without a line end. */
export function formatDemoHelp(): string {
  return [
    'Usage: npm run demo -- [options]',
    '',
    'Deploys a sample application (ConfigMap, Deployment, Service) through the HTTP API as Orca does, shows the history',
    'of its task, watches the rollout until everything is stable, and cleans up.',
    '',
    ...Object.entries<Flag>(flags).map(([name, flag]) => formatFlag(name, flag)),
    '',
    'Examples:',
    '  npm run demo',
    '  npm run demo -- --keep',
    '  npm run demo -- --url http://127.0.0.1:7002 --account my-account --namespace test',
    '',
    'Exit codes: 0 all became stable, 1 something did not, 2 wrong command line.',
  ].join('\n');
}

function formatFlag(name: string, { value, help }: Flag): string {
  const usage = value === undefined ? `--${name}` : `--${name} ${value}`;
  return `  ${usage.padEnd(18)} ${help}`;
}

/**
 * Reads the command line of the demo.
 *
 * @param args without the program's own name
 * @throws UsageError naming the option and what it takes
 */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const values = parse(args);
  if (values.url !== undefined && values.kubeconfig !== undefined) {
    throw new UsageError('--url and --kubeconfig exclude each other: a running Busdriver has its accounts');
  }
  if (values['token-file'] !== undefined && values.url === undefined) {
    throw new UsageError('--token-file needs --url: a Busdriver that the demo starts asks for no token');
  }
  return {
    url: values.url === undefined ? undefined : parseUrl(values.url),
    tokenFile: findFile('token-file', values['token-file']),
    kubeconfig: findFile('kubeconfig', values.kubeconfig),
    account: values.account,
    namespace: values.namespace ?? 'default',
    timeoutMs: parseSeconds(values.timeout ?? '120') * 1000,
    keep: values.keep ?? false,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags }).values;
  } catch (error) {
    // Behind the first sentence stands advice about positional arguments, of which there are none.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. ')[0] ?? message);
  }
}

function parseUrl(text: string): string {
  if (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text)) return text.replace(/\/$/, '');
  throw new UsageError(
    `--url must be an address without a path, such as http://127.0.0.1:7002, not '${text}'`,
  );
}

function findFile(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (existsSync(file)) return path.resolve(file);
  throw new UsageError(`--${flag}: there is no file '${file}'`);
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds > 0 && seconds <= 86_400) return seconds;
  throw new UsageError(`--timeout must be a number of seconds from 1 to 86400, not '${text}'`);
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { getErrorMessage } from '#core/errors.ts';
import { UsageError } from '#infra/local/cli-options.ts';
import type { LogLevel } from '#platform/config.ts';
import { getHost } from '#platform/services/system.ts';

/** What the command line of the Kubernetes home says. */
export interface HostCliOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  /** Spinnaker YAML files or directories, absolute, later wins. */
  readonly configFiles: readonly string[];
  readonly profiles: readonly string[];
  readonly logLevel: LogLevel;
  readonly namePrefix: string;
  /** Whether tables, queues and the bus are made where they are missing. */
  readonly createsResources: boolean;
  readonly podName: string;
  readonly serviceAccountDirectory: string;
  readonly peerTokenFile: string;
  /** File with the key that signs sessions of agents, the same in all replicas; undefined: the environment names it. */
  readonly sessionKeyFile: string | undefined;
  /** Where addresses of peers really are: `127.0.0.1:41234` by `10.0.15.246:7002`. */
  readonly peerAddresses: ReadonlyMap<string, string>;
  readonly help: boolean;
}

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

const flags = {
  port: { type: 'string', value: 'PORT', help: 'port of the API; 0 takes any free one (default 7002)' },
  host: { type: 'string', value: 'HOST', help: 'address to bind (default ::, all of IPv6 and IPv4)' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: "further name by which clients reach this server, in their 'Host' header (repeatable)",
  },
  config: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: "accounts in Spinnaker's YAML: a file, or a folder with clouddriver.yml (repeatable, later wins)",
  },
  profiles: { type: 'string', value: 'A,B', help: 'active Spring profiles of --config (default local)' },
  'log-level': { type: 'string', value: 'LEVEL', help: 'debug, info, warn, error or silent (default info)' },
  'name-prefix': {
    type: 'string',
    value: 'PREFIX',
    help: 'what stands before the names of tables and queues (default busdriver-)',
  },
  'create-resources': { type: 'boolean', help: 'make tables, queues and the bus that are missing' },
  'pod-name': {
    type: 'string',
    value: 'NAME',
    help: "the pod's name, by which peers know it (default the host's)",
  },
  'service-account-dir': {
    type: 'string',
    value: 'DIR',
    help: 'token, ca.crt and namespace of the pod (default where Kubernetes puts them)',
  },
  'peer-token-file': {
    type: 'string',
    value: 'FILE',
    help: 'projected token of audience busdriver-peer (default /var/run/secrets/busdriver/peer-token)',
  },
  'session-key-file': {
    type: 'string',
    value: 'FILE',
    help: 'key that signs sessions of agents, the same in all replicas (default $BUSDRIVER_AGENT_KEY_FILE)',
  },
  'peer-address': {
    type: 'string',
    multiple: true,
    value: 'A=B',
    help: 'reach the peer at A, such as 10.0.15.246:7002, at B (repeatable)',
  },
  help: { type: 'boolean', help: 'print this help' },
} as const satisfies { readonly [name: string]: Flag };

const logLevels: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'];

/** The help, without a line end. */
export function formatHostHelp(): string {
  return [
    'Usage: node main.js [options]',
    '',
    'Runs Busdriver as one of several replicas in Kubernetes. DynamoDB, SQS and EventBridge are where AWS_REGION and',
    'AWS_ENDPOINT_URL_DYNAMODB, …_SQS and …_EVENTBRIDGE say, with credentials as the AWS SDK finds them.',
    '',
    ...Object.entries<Flag>(flags).map(([name, { value, help }]) => {
      const usage = value === undefined ? `--${name}` : `--${name} ${value}`;
      return `  ${usage.padEnd(26)} ${help}`;
    }),
    '',
    'SIGTERM lets running operations reach a safe point and ends; another replica goes on.',
    'Exit codes: 0 ended as told, 1 could not run, 2 wrong command line.',
  ].join('\n');
}

/**
 * Reads the command line.
 *
 * @param args without the program's own name
 * @throws UsageError naming the option and what it takes
 */
export function parseHostOptions(args: readonly string[]): HostCliOptions {
  const { values } = parse(args);
  return {
    host: parseName('host', values.host ?? '::'),
    port: parsePort(values.port ?? '7002'),
    allowedHosts: (values['allow-host'] ?? []).map((name) => parseName('allow-host', name)),
    configFiles: (values.config ?? []).map(requireFile),
    profiles: (values.profiles ?? 'local').split(',').map((name) => name.trim()),
    logLevel: parseLogLevel(values['log-level'] ?? 'info'),
    namePrefix: parsePrefix(values['name-prefix'] ?? 'busdriver-'),
    createsResources: values['create-resources'] ?? false,
    podName: parseName('pod-name', values['pod-name'] ?? getHost()),
    serviceAccountDirectory: values['service-account-dir'] ?? '/var/run/secrets/kubernetes.io/serviceaccount',
    peerTokenFile: values['peer-token-file'] ?? '/var/run/secrets/busdriver/peer-token',
    sessionKeyFile: parseKeyFile(values['session-key-file']),
    peerAddresses: new Map((values['peer-address'] ?? []).map(parsePeerAddress)),
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags });
  } catch (error) {
    throw new UsageError(getErrorMessage(error));
  }
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port must be a number from 0 to 65535, not '${text}'`);
}

function parseName(flag: string, text: string): string {
  if (/^[\w.:[\]-]+$/.test(text)) return text;
  throw new UsageError(`--${flag} must be an address or a name, such as 127.0.0.1, not '${text}'`);
}

function parsePrefix(text: string): string {
  if (/^[\w-]{0,40}$/.test(text)) return text;
  throw new UsageError(`--name-prefix must be at most 40 letters, digits, - and _, not '${text}'`);
}

function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text.toUpperCase());
  if (level !== undefined) return level;
  throw new UsageError(`--log-level must be debug, info, warn, error or silent, not '${text}'`);
}

function parsePeerAddress(text: string): readonly [string, string] {
  const [, from = '', to = ''] = /^([\w.:[\]-]+)=([\w.:[\]-]+)$/.exec(text) ?? [];
  if (from !== '') return [from, to];
  throw new UsageError(`--peer-address must be such as 10.0.15.246:7002=127.0.0.1:41234, not '${text}'`);
}

function parseKeyFile(file: string | undefined): string | undefined {
  if (file === '') throw new UsageError('--session-key-file must name a file');
  return file === undefined ? undefined : path.resolve(file);
}

function requireFile(file: string): string {
  if (existsSync(file)) return path.resolve(file);
  throw new UsageError(`--config: there is no file '${file}'`);
}

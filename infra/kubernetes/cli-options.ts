import path from 'node:path';
import { many, one, optional, parseOptions, read, toggle, UsageError, type Values } from '#infra/options.ts';
import { getHost } from '#platform/services/system.ts';

const options = {
  port: one('--port <PORT>=7002', 'port of the API; 0 takes any free one', read.port),
  host: one('--host <HOST>=::', 'address to bind; :: is all of IPv6 and IPv4', read.host),
  allowedHosts: many(
    '--allow-host <NAME>',
    "further name by which clients reach this server, in their 'Host' header",
    read.host,
  ),
  /** Absolute, later wins. */
  configFiles: many(
    '--config <FILE>',
    "accounts in Spinnaker's YAML: a file, or a folder with clouddriver.yml, later wins",
    read.file,
  ),
  profiles: one('--profiles <A,B>=local', 'active Spring profiles of --config', (text): readonly string[] =>
    text.split(',').map((name) => name.trim()),
  ),
  /** Names of packages. */
  providers: many(
    '--provider <PACKAGE>',
    'npm package with a further provider: its code runs in this process',
    read.text,
  ),
  logLevel: one('--log-level <LEVEL>=info', 'debug, info, warn, error or silent', read.logLevel),
  namePrefix: one(
    '--name-prefix <PREFIX>=busdriver-',
    'what stands before the names of tables and queues',
    parsePrefix,
  ),
  metricsPort: optional(
    '--metrics-port <PORT>',
    'show metrics at /metrics of this port, to whom the API is open. Default: nothing is measured',
    read.port,
  ),
  createsResources: toggle('--create-resources', 'make tables, queues and the bus that are missing'),
  podName: optional(
    '--pod-name <NAME>',
    "the pod's name, by which peers know it (default the host's)",
    read.host,
  ),
  serviceAccountDirectory: one(
    '--service-account-dir <DIR>=/var/run/secrets/kubernetes.io/serviceaccount',
    'token, ca.crt and namespace of the pod',
    read.text,
  ),
  peerTokenFile: one(
    '--peer-token-file <FILE>=/var/run/secrets/busdriver/peer-token',
    'projected token of audience busdriver-peer',
    read.text,
  ),
  /** Undefined: the environment names it. */
  sessionKeyFile: optional(
    '--session-key-file <FILE>',
    'key that signs sessions of agents, the same in all replicas (default $BUSDRIVER_AGENT_KEY_FILE)',
    parseKeyFile,
  ),
  peerAddresses: many(
    '--peer-address <A=B>',
    'reach the peer at A, such as 10.0.15.246:7002, at B',
    parsePeerAddress,
  ),
};

/** What the command line of the Kubernetes home says. */
export interface HostCliOptions extends Omit<Values<typeof options>, 'podName' | 'peerAddresses'> {
  readonly podName: string;
  /** Where addresses of peers really are: `127.0.0.1:41234` by `10.0.15.246:7002`. */
  readonly peerAddresses: ReadonlyMap<string, string>;
}

/** The program of the Kubernetes home. */
export const hostProgram = {
  name: 'node main.js',
  about: `Runs Busdriver as one of several replicas in Kubernetes. DynamoDB, SQS and EventBridge are where AWS_REGION and \
AWS_ENDPOINT_URL_DYNAMODB, …_SQS and …_EVENTBRIDGE say, with credentials as the AWS SDK finds them.`,
  options,
  notes: [
    '',
    'SIGTERM lets running operations reach a safe point and ends; another replica goes on.',
    'Exit codes: 0 ended as told, 1 could not run, 2 wrong command line.',
  ],
};

/** Reads the command line. @param args without the program's own name @throws UsageError naming the option and what it takes */
export function parseHostOptions(args: readonly string[]): HostCliOptions {
  const values = parseOptions(hostProgram, args);
  return {
    ...values,
    podName: values.podName ?? getHost(),
    peerAddresses: new Map(values.peerAddresses),
  };
}

function parsePrefix(text: string, flag: string): string {
  if (/^[\w-]{0,40}$/.test(text)) return text;
  throw new UsageError(`${flag} must be at most 40 letters, digits, - and _, not '${text}'`);
}

function parsePeerAddress(text: string, flag: string): readonly [string, string] {
  const [, from = '', to = ''] = /^([\w.:[\]-]+)=([\w.:[\]-]+)$/.exec(text) ?? [];
  if (from !== '') return [from, to];
  throw new UsageError(`${flag} must be such as 10.0.15.246:7002=127.0.0.1:41234, not '${text}'`);
}

function parseKeyFile(text: string, flag: string): string {
  if (text !== '') return path.resolve(text);
  throw new UsageError(`${flag} must name a file`);
}

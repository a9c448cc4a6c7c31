import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { many, one, optional, parseOptions, read, toggle, UsageError, type Values } from '#infra/options.ts';
import type { Environment, LocalManagers } from '#platform/config.ts';

const options = {
  port: one('--port <PORT>=7002', 'port of the API; 0 takes any free one', read.port),
  host: one('--host <HOST>=127.0.0.1', 'address to bind', read.host),
  allowedHosts: many(
    '--allow-host <NAME>',
    "further name by which clients reach this server, in their 'Host' header",
    read.host,
  ),
  tokenFile: optional(
    '--token-file <FILE>',
    "callers must send 'Authorization: Bearer' with the token in FILE (mode 0600, read again when it changes)",
    read.file,
  ),
  tlsCert: optional('--tls-cert <FILE>', 'serve HTTPS with this certificate chain (PEM)', read.file),
  tlsKey: optional('--tls-key <FILE>', 'private key of --tls-cert (PEM, mode 0600)', read.file),
  tlsClientCa: optional(
    '--tls-client-ca <FILE>',
    'mutual TLS: callers must show a certificate that one of these signed (PEM)',
    read.file,
  ),
  localManagers: one(
    '--local-managers <MODE>=on',
    'on or off: without Fiat, whether callers on this machine may make, change and delete accounts',
    read.oneOf<LocalManagers>('on', 'off'),
  ),
  dataDir: one('--data-dir <DIR>=.busdriver', 'folder of all data', parseFolder),
  /** Later wins. */
  configFiles: many(
    '--config <FILE>',
    "accounts in Spinnaker's YAML: a file, or a folder with clouddriver.yml, later wins",
    read.file,
  ),
  profiles: one(
    '--profiles <A,B>=local',
    'active Spring profiles of --config',
    (text, flag): readonly string[] => text.split(',').map((name) => parseProfile(name.trim(), flag)),
  ),
  /** Kubeconfigs joined as in `KUBECONFIG`; undefined when there is none. */
  kubeconfig: optional(
    '--kubeconfig <FILE>',
    'without --config, each of its contexts is an account (default $KUBECONFIG, then ~/.kube/config)',
    (text, flag) => text && read.file(text, flag),
  ),
  /** Names of packages. */
  providers: many(
    '--provider <PACKAGE>',
    'npm package with a further provider: its code runs in this process',
    read.text,
  ),
  logLevel: one('--log-level <LEVEL>=info', 'debug, info, warn, error or silent', read.logLevel),
  metricsPort: optional(
    '--metrics-port <PORT>',
    'show metrics at /metrics of this port, to whom the API is open; 0 takes any free one. Default: nothing is measured',
    read.port,
  ),
  json: toggle(
    '--json',
    'print one line of JSON on stdout when ready, and nothing else there (npm prints lines of its own without npm start --silent)',
  ),
};

/** What the command line of `npm start` says. All paths are absolute. */
export type CliOptions = Values<typeof options>;

/** `npm start`. */
export const startProgram = {
  name: 'npm start --',
  about: `Runs Busdriver on this machine: the API on one port, all functions in one process, and the data in one folder.
Without any account, that is without --config and without a kubeconfig, it starts a Kubernetes test cluster.`,
  options,
  notes: [
    '',
    'Who may call the API: unless told otherwise, whoever reaches the port. No other machine does, but every user of this one,',
    "and a caller can name any user in Spinnaker's headers. On a machine that is yours alone nothing is needed. Else use",
    '  - a token (--token-file) where you share the machine, and scripts, curl or a proxy beside Spinnaker call: Spinnaker itself',
    '    has no setting for a token. It crosses the network as it is, so beyond this machine add --tls-cert and --tls-key.',
    '  - --local-managers off besides, where others use this machine, or a proxy or Gate runs on it: they call from here, too.',
    '  - mutual TLS (--tls-client-ca) where Spinnaker runs on other machines (--host): its services can show certificates.',
    'GET /health needs no token, but the certificate.',
    '',
    'Examples:',
    '  npm start',
    '  npm start -- --kubeconfig ~/.kube/config --port 7003',
    '  npm start -- --config ~/.hal/default/staging --profiles local,test',
    '  npm start -- --host 0.0.0.0 --allow-host host.docker.internal',
    '  npm start -- --token-file ~/.busdriver-token',
    '  npm start -- --host 0.0.0.0 --tls-cert tls.crt --tls-key tls.key --tls-client-ca clients.crt',
    '',
    'SIGTERM or Ctrl-C lets running operations reach a safe point and ends; the next start goes on.',
    'Exit codes: 0 ended as told, 1 could not run, 2 wrong command line.',
  ],
};

/** Reads the command line. @param args without the program's own name @throws UsageError naming the option and what it takes */
export function parseCliOptions(args: readonly string[], environment: Environment): CliOptions {
  const values = parseOptions(startProgram, args);
  // A certificate and its key go together; without them nobody's certificate can be asked for.
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined))
    throw new UsageError('--tls-cert and --tls-key go together');
  if (values.tlsClientCa !== undefined && values.tlsCert === undefined)
    throw new UsageError('--tls-client-ca needs --tls-cert and --tls-key');
  return { ...values, kubeconfig: values.kubeconfig || findKubeconfig(environment) };
}

function parseFolder(text: string, flag: string): string {
  if (text.trim() !== '') return path.resolve(text);
  throw new UsageError(`${flag} must name a folder`);
}

function parseProfile(name: string, flag: string): string {
  if (/^[\w.-]+$/.test(name)) return name;
  throw new UsageError(`${flag} must be names with commas between, such as local,test: '${name}' is none`);
}

/** As kubectl finds it: `KUBECONFIG` may list files that do not exist. */
function findKubeconfig(environment: Environment): string | undefined {
  const listed = environment['KUBECONFIG'];
  if (listed) return listed;
  const file = path.join(environment['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(file) ? file : undefined;
}

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findNearName } from '#core/near-name.ts';
import type { Environment, LocalManagers, LogLevel } from '#platform/config.ts';

/** What the command line says. */
export interface CliOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  /** Spinnaker YAML files or directories, absolute, later wins. */
  readonly configFiles: readonly string[];
  readonly profiles: readonly string[];
  /** Kubeconfigs joined as in `KUBECONFIG`; undefined when there is none. */
  readonly kubeconfig: string | undefined;
  readonly allowedHosts: readonly string[];
  /** A file with a bearer token, absolute. */
  readonly tokenFile: string | undefined;
  /** The server's certificate, its key, and what signs those of clients: PEM, absolute. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsClientCa: string | undefined;
  /** Whether callers on this machine may manage accounts without Fiat. */
  readonly localManagers: LocalManagers;
  readonly logLevel: LogLevel;
  readonly json: boolean;
  readonly help: boolean;
}

/** The command line is wrong; the message says where, and what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
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
  host: { type: 'string', value: 'HOST', help: 'address to bind (default 127.0.0.1)' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: "further name by which clients reach this server, in their 'Host' header (repeatable)",
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: "callers must send 'Authorization: Bearer' with the token in FILE (mode 0600, read again when it changes)",
  },
  'tls-cert': { type: 'string', value: 'FILE', help: 'serve HTTPS with this certificate chain (PEM)' },
  'tls-key': { type: 'string', value: 'FILE', help: 'private key of --tls-cert (PEM, mode 0600)' },
  'tls-client-ca': {
    type: 'string',
    value: 'FILE',
    help: 'mutual TLS: callers must show a certificate that one of these signed (PEM)',
  },
  'local-managers': {
    type: 'string',
    value: 'MODE',
    help: 'on or off: without Fiat, whether callers on this machine may make, change and delete accounts (default on)',
  },
  'data-dir': { type: 'string', value: 'DIR', help: 'folder of all data (default .busdriver)' },
  config: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: "accounts in Spinnaker's YAML: a file, or a folder with clouddriver.yml (repeatable, later wins)",
  },
  profiles: { type: 'string', value: 'A,B', help: 'active Spring profiles of --config (default local)' },
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: 'without --config, each of its contexts is an account (default $KUBECONFIG, then ~/.kube/config)',
  },
  'log-level': { type: 'string', value: 'LEVEL', help: 'debug, info, warn, error or silent (default info)' },
  json: { type: 'boolean', help: 'print one line of JSON on stdout when ready, and nothing else there' },
  help: { type: 'boolean', help: 'print this help' },
} as const satisfies { readonly [name: string]: Flag };

const logLevels: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'];

/** The help, without a line end. */
export function formatHelp(): string {
  return [
    'Usage: npm start -- [options]',
    '',
    'Runs Busdriver on this machine: the API on one port, all functions in one process, and the data in one folder.',
    'Without any account, that is without --config and without a kubeconfig, it starts a Kubernetes test cluster.',
    '',
    ...Object.entries<Flag>(flags).map(([name, flag]) => formatFlag(name, flag)),
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
  ].join('\n');
}

function formatFlag(name: string, { value, help }: Flag): string {
  const usage = value === undefined ? `--${name}` : `--${name} ${value}`;
  return `  ${usage.padEnd(20)} ${help}`;
}

/**
 * Reads the command line.
 *
 * @param args without the program's own name
 * @throws UsageError naming the option and what it takes
 */
export function parseCliOptions(args: readonly string[], environment: Environment): CliOptions {
  checkNames(args);
  const { values } = parse(args);
  const configFiles = (values.config ?? []).map((file) => requireFile('config', file));
  const find = (flag: 'token-file' | 'tls-cert' | 'tls-key' | 'tls-client-ca') =>
    values[flag] === undefined ? undefined : requireFile(flag, values[flag]);
  checkTls(values);
  return {
    host: parseHost('host', values.host ?? '127.0.0.1'),
    port: parsePort(values.port ?? '7002'),
    dataDir: parseFolder(values['data-dir'] ?? '.busdriver'),
    configFiles,
    profiles: (values.profiles ?? 'local').split(',').map(parseProfile),
    kubeconfig: values.kubeconfig
      ? requireFile('kubeconfig', values.kubeconfig)
      : findKubeconfig(environment),
    allowedHosts: (values['allow-host'] ?? []).map((name) => parseHost('allow-host', name)),
    tokenFile: find('token-file'),
    tlsCert: find('tls-cert'),
    tlsKey: find('tls-key'),
    tlsClientCa: find('tls-client-ca'),
    localManagers: parseSwitch(values['local-managers'] ?? 'on'),
    logLevel: parseLogLevel(values['log-level'] ?? 'info'),
    json: values.json ?? false,
    help: values.help ?? false,
  };
}

/** `parseArgs` explains an unknown option by a rule of its own; here the nearest name helps more. */
function checkNames(args: readonly string[]): void {
  const { tokens } = parseArgs({ args: [...args], options: flags, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`'${token.value}' is no option`);
    if (token.kind !== 'option' || Object.hasOwn(flags, token.name)) continue;
    const suggestion = findNearName(token.name, Object.keys(flags));
    throw new UsageError(
      `Unknown option '${token.rawName}'${suggestion ? `: did you mean --${suggestion}?` : ''}`,
    );
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A certificate and its key go together; without them nobody's certificate can be asked for. */
function checkTls(values: { readonly [flag: string]: unknown }): void {
  const isGiven = (flag: string) => values[flag] !== undefined;
  if (isGiven('tls-cert') !== isGiven('tls-key'))
    throw new UsageError('--tls-cert and --tls-key go together');
  if (isGiven('tls-client-ca') && !isGiven('tls-cert')) {
    throw new UsageError('--tls-client-ca needs --tls-cert and --tls-key');
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, not '${text}'`);
}

function parseHost(flag: string, text: string): string {
  if (/^[\w.:[\]-]+$/.test(text)) return text;
  throw new UsageError(`--${flag} must be an address or a name, such as 127.0.0.1, not '${text}'`);
}

function parseFolder(text: string): string {
  if (text.trim() !== '') return path.resolve(text);
  throw new UsageError('--data-dir must name a folder');
}

function parseProfile(text: string): string {
  const name = text.trim();
  if (/^[\w.-]+$/.test(name)) return name;
  throw new UsageError(`--profiles must be names with commas between, such as local,test: '${name}' is none`);
}

function parseSwitch(text: string): LocalManagers {
  if (text === 'on' || text === 'off') return text;
  throw new UsageError(`--local-managers must be on or off, not '${text}'`);
}

function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text.toUpperCase());
  if (level !== undefined) return level;
  throw new UsageError(`--log-level must be debug, info, warn, error or silent, not '${text}'`);
}

function requireFile(flag: string, file: string): string {
  if (existsSync(file)) return path.resolve(file);
  throw new UsageError(`--${flag}: there is no file '${file}'`);
}

/** As kubectl finds it: `KUBECONFIG` may list files that do not exist. */
function findKubeconfig(environment: Environment): string | undefined {
  const listed = environment['KUBECONFIG'];
  if (listed) return listed;
  const file = path.join(environment['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(file) ? file : undefined;
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse as parseYaml, YAMLError } from 'yaml';
import type { Permissions } from '#accounts/model/account.ts';
import type { BackOff } from '#core/back-off.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import type { LogLevel } from '#platform/config.ts';
import { parseWith } from '#settings/coerce.ts';
import type { HubTls } from '../hub/hub-client.ts';
import type { Proof } from '../hub/proof-source.ts';
import type { StatusConfig } from '../status/agent-status.ts';
import type { AccountLimits } from './account-limits.ts';
import { type AgentFile, fileSchema, findReferences } from './file-schema.ts';
import { findKeys, type KeyFindings } from './known-keys.ts';
import { parseFilePermissions } from './permissions.ts';

/** Bytes of the file at most. */
const fileBytesMax = 1 << 20;

/** The path of a projected token, unless the file says another one. */
export const tokenFileDefault = '/var/run/secrets/busdriver/token';

/** How an agent reaches the cluster of an account, and what it keeps to there. */
export interface AgentAccount {
  readonly name: string;
  /** Absolute; undefined with the credentials of the agent's own pod. */
  readonly kubeConfigFile: string | undefined;
  /** Left out, the kubeconfig's current context. */
  readonly context: string | undefined;
  readonly serviceAccount: boolean;
  /** Whether the API server's certificate is not looked at. */
  readonly insecure: boolean;
  /** Whether proxies that the environment names are passed by. */
  readonly noProxy: boolean;
  readonly limits: AccountLimits;
  /** Permissions in the words of the file: Busdriver's definition counts. */
  readonly permissions: Permissions | undefined;
}

/** How the cluster of an account is reached, as the Kubernetes provider has it. */
export function toConnection(account: AgentAccount) {
  const { name, kubeConfigFile, context, serviceAccount, insecure, noProxy } = account;
  const placement = 'local' as const;
  return { name, kubeconfigFile: kubeConfigFile, context, serviceAccount, insecure, noProxy, placement };
}

/**
 * How an agent learns of work. `websocket`: by hints of Busdriver; `poll`: it only asks; `auto`: the former, and where that fails again and again
 * the latter. `grpc`: it makes all its calls over gRPC, and asks.
 */
export type AgentTransport = (typeof transports)[number];

const transports = ['auto', 'websocket', 'poll', 'grpc'] as const;

/** The configuration of an agent. */
export interface AgentConfig {
  /** Where Busdriver answers, without a slash at its end. */
  readonly url: string;
  /** The proof of the agent's identity. */
  readonly proof: Proof;
  readonly tls: HubTls;
  /** Whether Busdriver is reached without the proxies that the environment names. */
  readonly noProxy: boolean;
  /** Its zone, in the words of its operator. */
  readonly zone: string | undefined;
  readonly transport: AgentTransport;
  /** Pauses between tries to open a session; undefined: those of the agent. */
  readonly backOff: BackOff | undefined;
  /** Milliseconds between two signs of life of a connection that lasts; 0: none. Undefined: those of the transport. */
  readonly keepAliveMs: number | undefined;
  readonly accounts: readonly AgentAccount[];
  readonly status: StatusConfig;
  readonly log: { readonly level: LogLevel; readonly format: 'json' | 'text' };
  /** Keys of the file that do nothing. */
  readonly keys: KeyFindings;
}

/** Values of the command line that override the file. */
export interface ConfigOverrides {
  /** In the place of `busdriver.url`: so a file of Armory's agent needs no change. */
  readonly url?: string | undefined;
}

/**
 * Reads the file of an agent, ours or Armory's. Paths in it are meant from its folder.
 *
 * @throws InvalidInputError naming each setting that is of no use; Error when the file cannot be read
 */
export async function readAgentConfig(file: string, overrides: ConfigOverrides = {}): Promise<AgentConfig> {
  const text = await readFile(file, 'utf8');
  if (Buffer.byteLength(text) > fileBytesMax) {
    throw new InvalidInputError(`${file}: expected ${fileBytesMax} bytes at most`);
  }
  return parseAgentConfig(parseDocument(text, file), path.dirname(path.resolve(file)), overrides);
}

/** The parser's own message quotes the line, which may hold a token. */
function parseDocument(text: string, file: string): unknown {
  try {
    return parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    const { line, col } = (error instanceof YAMLError && error.linePos?.[0]) || { line: 0, col: 0 };
    const where = line === 0 ? '' : ` at line ${line}, column ${col}`;
    throw new InvalidInputError(`${file}: expected YAML; it cannot be read${where}`);
  }
}

/** The same of what a file holds. @param folder where the file is @throws InvalidInputError */
export function parseAgentConfig(
  document: unknown,
  folder: string,
  overrides: ConfigOverrides = {},
): AgentConfig {
  const references = findReferences(document as JsonValue);
  if (references.length > 0) {
    throw new InvalidInputError(
      references
        .slice(0, 20)
        .map(
          (at) =>
            `${at}: refers to a secret elsewhere, which the agent does not read: expected the value, or a file that is mounted`,
        ),
    );
  }
  const file = parseWith(fileSchema, document, '');
  const { busdriver, clouddriver, kubernetes, prometheus, logging } = file;
  const toPath = (name: string | undefined) => (name ? path.resolve(folder, name) : undefined);
  if (kubernetes.dynamicAccountsOnly) {
    throw new InvalidInputError(
      'kubernetes.dynamicAccountsOnly: expected false: an agent serves the accounts of its file that Busdriver has, too',
    );
  }
  const transport = chooseTransport(file, overrides);
  return {
    url: chooseUrl(file, transport, overrides),
    proof: chooseProof(file, transport, toPath),
    tls: {
      caFile: toPath(busdriver?.caFile ?? clouddriver?.tls?.cacertFile),
      serverName: clouddriver?.tls?.serverName || undefined,
      skipsVerification: clouddriver?.tls?.insecureSkipVerify ?? false,
      certFile: toPath(clouddriver?.tls?.clientCertFile),
      keyFile: toPath(clouddriver?.tls?.clientKeyFile || clouddriver?.tls?.clientCertFile),
      keyPassword: clouddriver?.tls?.clientKeyFilePassword || undefined,
    },
    noProxy: (busdriver?.noProxy || clouddriver?.noProxy) ?? false,
    zone: busdriver?.zone || file.zoneId || undefined,
    transport,
    backOff: toBackOff(clouddriver?.backoff),
    keepAliveMs:
      clouddriver?.keepAliveHeartbeatSeconds === undefined
        ? undefined
        : clouddriver.keepAliveHeartbeatSeconds * 1_000,
    accounts: toAccounts(kubernetes, toPath),
    status: {
      host: file.server?.host || undefined,
      healthPort: file.server?.port,
      healthTls: toStatusTls(file.server?.ssl, toPath),
      metricsPort: prometheus?.port,
      servesMetrics: prometheus?.enabled ?? true,
    },
    log: { level: toLogLevel(logging?.level), format: toLogFormat(logging?.format) },
    keys: findKeys(document as JsonValue),
  };
}

type ToPath = (name: string | undefined) => string | undefined;

function chooseTransport({ busdriver, clouddriver }: AgentFile, { url }: ConfigOverrides): AgentTransport {
  const isOnlyGrpc = !url && !busdriver?.url && clouddriver?.grpc;
  const isGrpcUrl = grpcScheme.test(url || busdriver?.url || '');
  const text = busdriver?.transport || (isOnlyGrpc || isGrpcUrl ? 'grpc' : 'auto');
  const transport = transports.find((each) => each === text);
  if (transport !== undefined && (transport === 'grpc' || !isGrpcUrl)) return transport;
  const known = isGrpcUrl ? 'grpc, because of the URL' : `one of ${transports.join(', ')}`;
  throw new InvalidInputError(`busdriver.transport: expected ${known}, got ${text}`);
}

function chooseUrl(
  { busdriver, clouddriver }: AgentFile,
  transport: string,
  overrides: ConfigOverrides,
): string {
  if (overrides.url) return parseUrl(overrides.url, '--url');
  if (busdriver?.url) return parseUrl(busdriver.url, 'busdriver.url');
  if (transport !== 'grpc' || !clouddriver?.grpc)
    throw new InvalidInputError('busdriver.url: expected a value, got none');
  return parseGrpcAddress(clouddriver.grpc, clouddriver.insecure);
}

/** `host:port` of Armory's file, as a URL. There whoever writes `insecure: true` asks for a connection without TLS. */
function parseGrpcAddress(address: string, isPlain: boolean): string {
  const text = `${isPlain ? 'http' : 'https'}://${address.replace(/^dns:\/*/, '')}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlace = url !== undefined && url.pathname === '/' && url.search === '' && url.username === '';
  if (isPlace) return url.href.replace(/\/+$/, '');
  throw new InvalidInputError(
    'clouddriver.grpc: expected a host and a port, such as spin-clouddriver-grpc:9091',
  );
}

/** Our own setting counts before those of Armory's file; without any a token is expected where our manifests mount it. */
function chooseProof({ busdriver, clouddriver }: AgentFile, transport: string, toPath: ToPath): Proof {
  const auth = busdriver?.auth && choose(busdriver.auth, ['token', 'certificate', 'iam'], 'busdriver.auth');
  const hasCertificate = Boolean(clouddriver?.tls?.clientCertFile);
  if (auth === 'iam' && transport === 'grpc')
    throw new InvalidInputError(
      'busdriver.auth: expected token or certificate: gRPC has no signatures of IAM',
    );
  if (auth === 'iam') return { kind: 'iam', region: busdriver?.region || undefined };
  if (auth === 'certificate' && !hasCertificate)
    throw new InvalidInputError('clouddriver.tls.clientCertFile: expected a value, got none');
  if (auth === 'certificate') return { kind: 'certificate' };
  const own = toPath(busdriver?.tokenFile);
  if (own !== undefined) return { kind: 'file', file: own };
  const { token, tokenCommand } = clouddriver?.auth ?? {};
  if (tokenCommand?.command) {
    const { command, args, format, refreshIntervalSeconds } = tokenCommand;
    return {
      ...{ kind: 'command', command, args, refreshSeconds: refreshIntervalSeconds },
      format: choose(
        format?.toLowerCase() || 'json',
        ['raw', 'json'],
        'clouddriver.auth.tokenCommand.format',
      ),
    };
  }
  if (token) return { kind: 'text', token: token.trim() };
  if (hasCertificate && auth === undefined) return { kind: 'certificate' };
  return { kind: 'file', file: tokenFileDefault };
}

function toBackOff(fields: NonNullable<AgentFile['clouddriver']>['backoff']): BackOff | undefined {
  if (fields === undefined) return undefined;
  const { baseDelay = 1e9, multiplier = 1.6, jitter = 0.2, maxDelay = 120e9 } = fields;
  const at = 'clouddriver.backoff';
  if (!(multiplier >= 1 && multiplier <= 100))
    throw new InvalidInputError(`${at}.multiplier: expected 1 to 100`);
  if (!(jitter >= 0 && jitter <= 1)) throw new InvalidInputError(`${at}.jitter: expected 0 to 1`);
  if (maxDelay < baseDelay) throw new InvalidInputError(`${at}.maxDelay: expected no less than baseDelay`);
  return { firstMs: baseDelay / 1e6, mostMs: maxDelay / 1e6, growth: multiplier, fixedShare: 1 - jitter };
}

function toAccounts({ accounts, noProxy }: AgentFile['kubernetes'], toPath: ToPath): readonly AgentAccount[] {
  const names = accounts.map(({ name }) => name);
  if (names.length === 0) throw new InvalidInputError('kubernetes.accounts: expected an account, got none');
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new InvalidInputError(`kubernetes.accounts: two are named ${name}`);
    seen.add(name);
  }
  return accounts.map(({ permissions, ...account }, index) => {
    const at = `kubernetes.accounts[${index}]`;
    const { name, kubeConfigFile, context, serviceAccount, insecure, ...limits } = account;
    if (!kubeConfigFile === !serviceAccount) {
      throw new InvalidInputError(`${at}: expected either kubeConfigFile or serviceAccount: true`);
    }
    const access = {
      ...{ name, kubeConfigFile: toPath(kubeConfigFile), context: context || undefined },
      ...{ serviceAccount, insecure, noProxy: noProxy || account.noProxy },
    };
    const { noProxy: _, ...others } = limits;
    return { ...access, limits: others, permissions: parseFilePermissions(permissions, `${at}.permissions`) };
  });
}

function toStatusTls(
  ssl: NonNullable<AgentFile['server']>['ssl'],
  toPath: ToPath,
): StatusConfig['healthTls'] {
  if (!ssl?.enabled) return undefined;
  const certFile = toPath(ssl.certFile);
  if (certFile === undefined) throw new InvalidInputError('server.ssl.certFile: expected a value, got none');
  return {
    certFile,
    keyFile: toPath(ssl.keyFile) ?? certFile,
    keyPassword: ssl.keyFilePassword || ssl.keyPassword || undefined,
    caFile: toPath(ssl.caCertFile),
    clientAuth: choose(
      ssl.clientAuth?.toLowerCase() || 'none',
      ['none', 'want', 'need'],
      'server.ssl.clientAuth',
    ),
  };
}

/** Levels of Armory's agent, and ours. */
const logLevels: ReadonlyMap<string, LogLevel> = new Map([
  ...['panic', 'fatal', 'error'].map((name) => [name, 'ERROR'] as const),
  ...['warn', 'warning'].map((name) => [name, 'WARN'] as const),
  ['info', 'INFO'],
  ...['debug', 'trace'].map((name) => [name, 'DEBUG'] as const),
]);

function toLogLevel(text: string | undefined): LogLevel {
  const level = logLevels.get((text || 'info').toLowerCase());
  if (level !== undefined) return level;
  throw new InvalidInputError(`logging.level: expected one of ${[...logLevels.keys()].join(', ')}`);
}

function toLogFormat(text: string | undefined): 'json' | 'text' {
  return choose(text?.toLowerCase() || 'json', ['json', 'text'], 'logging.format');
}

function choose<const T extends string>(text: string, values: readonly T[], at: string): T {
  const found = values.find((each) => each === text);
  if (found !== undefined) return found;
  throw new InvalidInputError(`${at}: expected one of ${values.join(', ')}`);
}

/** A URL of gRPC says in its scheme how calls are made: the rest is that of a URL of HTTP. */
const grpcScheme = /^grpc(?=s?:)/;

/** Tokens would cross a network as they are without TLS. */
function parseUrl(given: string, at: string): string {
  const text = given.replace(grpcScheme, 'http');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
  if (url !== undefined && isSafe && url.search === '' && url.hash === '')
    return url.href.replace(/\/+$/, '');
  throw new InvalidInputError(
    `${at}: expected a URL that begins with https:// or grpcs://, or http:// or grpc:// on this machine`,
  );
}

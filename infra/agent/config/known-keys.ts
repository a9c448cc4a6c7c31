import { isJsonObject, type JsonValue } from '#core/json.ts';
import { describeUnknownKey, keyLengthMax } from '#settings/nearest-key.ts';
import { joinPath, toCanonicalKey } from '#settings/spring-config.ts';

/** Sentences about keys of one file that are logged, at most; of further ones how many there are. */
export const toldMax = 50;

/** Levels of a file that are looked at. */
const depthMax = 8;

/** The effect of a key of the file: it is read, or has none for this reason. */
type Effect = { readonly isRead: true } | { readonly reason: string };

const isRead: Effect = { isRead: true };
const unused = (reason: string): Effect => ({ reason });

const ownLog = unused('the log goes to standard error, where the container runtime collects it');
const ownRetries = unused('calls are repeated for as long as the lease of a task holds');
const ownTasks = unused('Busdriver says how many tasks run at once');
const ownDiscovery = unused('Busdriver finds that out by itself');
const noAccountsByApi = unused('accounts are those of this file that Busdriver has, too');
const ownDefinition = unused("Busdriver's definition of the account says that");

/** Keys of accounts that are in Busdriver's definition of the account. */
const definedKeys = [
  ...['cacheThreads', 'cacheIntervalSeconds', 'cachingPolicies', 'checkPermissionsOnStartup', 'debug'],
  ...['configureImagePullSecrets', 'customResources', 'dockerRegistries', 'environment', 'accountType'],
  ...['liveManifestCalls', 'namingStrategy', 'oAuthServiceAccount', 'providerVersion', 'skin'],
  ...['requiredGroupMembership', 'kubectlExecutable'],
];

/**
 * All keys that agents of ours and of Armory have. Lists are written as one item; a key that ends in `.*` means all below it.
 * docs/from-armory-agent.md explains each.
 */
export const knownKeys: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ...readKeys('busdriver', ['url', 'transport', 'auth', 'region', 'tokenFile', 'caFile', 'zone', 'noProxy']),
  ...readKeys('clouddriver', ['grpc', 'insecure', 'noProxy', 'keepAliveHeartbeatSeconds']),
  ...readKeys('clouddriver.tls', ['serverName', 'insecureSkipVerify', 'cacertFile']),
  ...readKeys('clouddriver.tls', ['clientCertFile', 'clientKeyFile', 'clientKeyFilePassword']),
  ['clouddriver.auth.token', isRead],
  ...readKeys('clouddriver.auth.tokenCommand', ['command', 'args', 'format', 'refreshIntervalSeconds']),
  ...readKeys('clouddriver.backoff', ['baseDelay', 'multiplier', 'jitter', 'maxDelay']),
  ['clouddriver.retries.*', ownRetries],
  ['clouddriver.cacheRetryIntervalSeconds', ownRetries],
  ['clouddriver.keepAliveTimeOutSeconds', unused('a connection that is silent is given up by itself')],
  ['clouddriver.keepAliveOperationSeconds', unused('an agent asks for work by itself')],
  ['clouddriver.dynamicAccountsEnabled', noAccountsByApi],
  ['kubernetes.noProxy', isRead],
  ['kubernetes.retries.*', ownRetries],
  [
    'kubernetes.serverSideApply.*',
    unused('a manifest says so itself, by strategy.spinnaker.io/server-side-apply'),
  ],
  ['kubernetes.reconnectTimeoutMs', unused('clouddriver.backoff says how long to wait')],
  ['kubernetes.dynamicAccountsOnly', noAccountsByApi],
  ['kubernetes.cacheGroupKinds', ownDiscovery],
  ['kubernetes.cacheGroupNamespaces', ownDiscovery],
  ['kubernetes.cacheGroup.*', ownDiscovery],
  ['kubernetes.cacheGroups.*', ownDiscovery],
  ...readKeys('kubernetes.accounts[]', ['name', 'kubeConfigFile', 'context', 'serviceAccount', 'insecure']),
  ...readKeys('kubernetes.accounts[]', ['namespaces', 'omitNamespaces', 'kinds', 'omitKinds', 'noProxy']),
  ...readKeys('kubernetes.accounts[]', ['onlyNamespacedResources', 'onlySpinnakerManaged', 'metrics']),
  ['kubernetes.accounts[].permissions', isRead],
  ['kubernetes.accounts[].permissions.*', isRead],
  ['kubernetes.accounts[].customResourceDefinitions.*', ownDiscovery],
  [
    'kubernetes.accounts[].maxResumableResourceAgeMs',
    unused('watches go on where the last stored change was, however old that is'),
  ],
  ['kubernetes.accounts[].serviceAccountName', unused('the pod says which service account it has')],
  ['kubernetes.accounts[].oAuthScopes', unused('the kubeconfig says how to log in')],
  ...definedKeys.map((key) => [`kubernetes.accounts[].${key}.*`, ownDefinition] as const),
  ...readKeys('server', ['host', 'port']),
  ...readKeys('server.ssl', ['enabled', 'certFile', 'keyFile', 'keyPassword']),
  ...readKeys('server.ssl', ['keyFilePassword', 'caCertFile', 'clientAuth']),
  ...readKeys('prometheus', ['enabled', 'port']),
  ...readKeys('logging', ['level', 'format']),
  ['logging.*', ownLog],
  ['zoneId', isRead],
  ['pprof.*', unused('it is a profiler of programs in Go')],
  ['tasks.*', ownTasks],
  ['secrets.vault.*', unused('nothing in the file may refer to a secret: name a file that is mounted')],
  ['hub.*', unused("Armory's cloud is not called")],
  ['local.*', unused('there is no such mode')],
  ['balanceConnection', unused('there are no connections to spread')],
  ['clouddriverNamespace', unused('busdriver.url says where Busdriver is')],
  ['domainName', unused('busdriver.url says where Busdriver is')],
  ['certFile', unused('clouddriver.tls.clientCertFile names the certificate')],
]);

/** Findings about a file's keys. */
export interface KeyFindings {
  /** Sentences about keys that are known and change nothing. */
  readonly unused: readonly string[];
  /** Sentences about unknown keys. */
  readonly unknown: readonly string[];
}

/** Looks through the keys of a file. */
export function findKeys(document: JsonValue): KeyFindings {
  const found = { unused: new Set<string>(), unknown: new Set<string>() };
  visit(document, { path: '', pattern: '', depth: 0 }, found);
  return { unused: toTold(found.unused), unknown: toTold(found.unknown) };
}

interface Place {
  readonly path: string;
  readonly pattern: string;
  readonly depth: number;
}

interface Found {
  readonly unused: Set<string>;
  readonly unknown: Set<string>;
}

const canonicalKeys = new Map([...knownKeys].map(([key, effect]) => [toCanonicalKey(key), effect]));

function visit(value: JsonValue, { path, pattern, depth }: Place, found: Found): void {
  // At this depth no key is read.
  if (depth > depthMax) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      visit(item, { path: `${path}[${index}]`, pattern: `${pattern}[]`, depth: depth + 1 }, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    // An empty key means nothing.
    if (member === null) continue;
    const place = {
      path: joinPath(path, key.slice(0, keyLengthMax)),
      pattern: joinPath(pattern, toCanonicalKey(key)),
      depth: depth + 1,
    };
    const effect = findEffect(place.pattern) ?? findRest(pattern);
    if (effect === undefined && isFolder(place.pattern)) visit(member, place, found);
    else if (effect === undefined) found.unknown.add(describeUnknownKey(place.path, key, listKeys(pattern)));
    else if ('reason' in effect) found.unused.add(`${place.path}: of no effect: ${effect.reason}`);
  }
}

/** The effect of a key, and of all below it that is not known by itself. */
function findEffect(pattern: string): Effect | undefined {
  return canonicalKeys.get(pattern) ?? (isFolder(pattern) ? undefined : findRest(pattern));
}

/** The effect of all below a key that is not known by itself. */
function findRest(pattern: string): Effect | undefined {
  return canonicalKeys.get(`${pattern}.*`);
}

/** Whether there are known keys below it, by their names. */
function isFolder(pattern: string): boolean {
  const starts = [`${pattern}.`, `${pattern}[].`];
  return [...canonicalKeys.keys()].some(
    (key) => key !== `${pattern}.*` && starts.some((start) => key.startsWith(start)),
  );
}

/** The names of known keys directly below a place. */
function listKeys(pattern: string): readonly string[] {
  const start = pattern === '' ? '' : `${pattern}.`;
  const names = [...knownKeys.keys()]
    .filter((key) => toCanonicalKey(key).startsWith(start))
    .map((key) => key.split('.')[start.split('.').length - 1]?.replace('[]', '') ?? '');
  return [...new Set(names)].filter((name) => name !== '' && name !== '*');
}

function readKeys(folder: string, names: readonly string[]): readonly [string, Effect][] {
  return names.map((name) => [`${folder}.${name}`, isRead]);
}

function toTold(sentences: ReadonlySet<string>): readonly string[] {
  const all = [...sentences];
  if (all.length <= toldMax) return all;
  return [...all.slice(0, toldMax), `${all.length - toldMax} more keys like these`];
}

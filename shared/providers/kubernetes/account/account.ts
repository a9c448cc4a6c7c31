import { describeUnknownKeys } from '#accounts/account-options.ts';
import type { Account, AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import { parseAccess } from '#accounts/permissions.ts';
import { rememberEntries } from '#accounts/remembered-entries.ts';
import type { CacheModeSetting } from '#caching/scheduling/cache-mode.ts';
import type { AccountView, KubernetesAccountView } from '#contract/answers/credentials.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { findNearName } from '#core/near-name.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { machineAccessPath, parseAccountsFlag } from '#settings/account-storage.ts';
import { findMember, getSetting } from '#settings/spring-config.ts';
import { findNamespaceProblem } from '../api/names.ts';
import { type CustomResource, createKindRegistry, type KindRegistry } from '../kinds/index.ts';
import { toV1KindRegistry } from '../kinds/v1-kinds.ts';
import { findReadinessRules, type ReadinessRules, readinessRules } from '../manifest/readiness.ts';
import type { AccountBounds } from './account-bounds.ts';
import {
  type AccountConnection,
  checkReachable,
  confine,
  createConnection,
  findConnectionConflicts,
} from './account-connection.ts';
import {
  type AccountFields,
  accountOptions,
  findUnusableTexts,
  parseAccountFields,
} from './account-fields.ts';
import { parseKubernetesSettings } from './account-settings.ts';
import { createAgentAccess, findAgentConflicts, settleAgentAccess } from './agent-access.ts';
import { checkTokenBroker } from './token-brokers.ts';
import { findV1Conflicts, findV1Rules, listNamedNamespaces, type V1Rules } from './v1-rules.ts';

/** Caches only this many objects of a kind, the first ones listed. */
export type CachingPolicy = AccountFields['cachingPolicies'][number];

/** Which objects of an account are cached and listed, and how often. Operations and live reads ignore it. */
export interface CachingRules {
  /** The only kinds to cache; empty for all. */
  readonly kinds: readonly string[];
  /** Kinds not to cache; empty when `kinds` has any. */
  readonly omitKinds: readonly string[];
  readonly policies: readonly CachingPolicy[];
  /** Undefined for the interval of all caching agents. */
  readonly intervalSeconds: number | undefined;
  /** Whether changes are polled now and then, or watched all the time. */
  readonly mode: CacheModeSetting;
  /** Whether objects of every kind are linked to their application. */
  readonly allApplicationRelationships: boolean;
  /** Which kinds the raw-resources view shows, as regular expressions; at most one of the lists has any. */
  readonly rawResources: NonNullable<AccountFields['rawResourcesEndpointConfig']>;
  /** Whether only objects that carry Spinnaker's application annotation are cached. */
  readonly onlySpinnakerManaged: boolean;
}

/** A Kubernetes account. */
export interface KubernetesAccount extends Account, AccountBounds {
  readonly connection: AccountConnection;
  readonly customResources: readonly CustomResource[];
  /** What is known of the account's kinds. */
  readonly kindRegistry: KindRegistry;
  /** Whether a pod's metrics are read along with it. */
  readonly metrics: boolean;
  /** The rules by which its objects are ready, unless their annotation says otherwise. */
  readonly readiness: ReadinessRules;
  readonly caching: CachingRules;
  /** Its rules as an account of Spinnaker's Kubernetes V1 provider; undefined for a V2 account. */
  readonly v1: V1Rules | undefined;
}

/** An account of Spinnaker's Kubernetes V1 provider. */
export interface KubernetesV1Account extends KubernetesAccount {
  readonly v1: V1Rules;
}

/** Whether an account is a V1 account. */
export function isV1Account(account: KubernetesAccount): account is KubernetesV1Account {
  return account.v1 !== undefined;
}

/** The accounts of a configuration: the usable ones, and the others with the reason. */
export interface ParsedAccounts {
  readonly accounts: readonly KubernetesAccount[];
  readonly rejected: readonly RejectedAccount[];
  /** What the author of the settings should know. */
  readonly warnings: readonly AccountWarning[];
}

/** What is known of accounts besides their settings. */
export type ParseOptions = Partial<
  Pick<ProviderContext, 'accounts' | 'placement' | 'servesAgents' | 'credentials'>
>;

/**
 * Reads `kubernetes.accounts`. An account that is wrong is rejected, with a reason that begins with the path of the setting, and the others
 * are read. Of two with one name only the first counts, even if it is rejected: the second may be open to more people. There are none when
 * `kubernetes.enabled` is false.
 *
 * @param options accounts made by an API, which come first; where functions run; and problems found with what the settings name.
 * @throws InvalidInputError when the settings for all accounts are wrong, or the list is not a list.
 */
export function parseKubernetesAccounts(
  settings: JsonObject,
  { accounts: given = {}, ...options }: ParseOptions = {},
): ParsedAccounts {
  const { stored = [], refused = [], takenNames } = given;
  const path = 'kubernetes.accounts';
  const list = getSetting(settings, path) || [];
  if (!Array.isArray(list)) throw new InvalidInputError(`${path}: expected a list of accounts`);
  if (!parseKubernetesSettings(settings).enabled) return { accounts: [], rejected: [], warnings: [] };
  const accounts: KubernetesAccount[] = [];
  const rejected: RejectedAccount[] = [];
  const warnings: AccountWarning[] = [];
  const names = new Set(takenNames);
  const mayUseMachine = parseAccountsFlag(settings, machineAccessPath);
  const entries = [
    ...stored.map((entry) => ({
      entry,
      at: `stored account "${findEntryName(entry)}"`,
      isStored: true,
    })),
    ...list.map((entry, index) => ({ entry, at: `${path}[${index}]`, isStored: false })),
  ];
  for (const { entry, at, isStored } of entries) {
    if (entry === null) continue;
    const name = findEntryName(entry) ?? at;
    const parsed = readEntry(entry, { at, isConfined: isStored && !mayUseMachine });
    warnings.push(...parsed.warnings);
    try {
      if (names.has(name)) throw new InvalidInputError(`${at}.name: an earlier account has this name`);
      names.add(name);
      const refusal = isStored ? undefined : refused.find((each) => each.name === name);
      if (refusal !== undefined) throw new InvalidInputError(refusal.reason);
      const account = parsed.get();
      if (options.placement === 'deployed' && options.credentials !== 'withheld')
        checkReachable(account.connection, at);
      checkTokenBroker(account.connection.server, settings);
      accounts.push(settleAgentAccess(account, at, { ...options, settings }));
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      rejected.push({ name, reason: error.message });
    }
  }
  return { accounts, rejected, warnings };
}

/** How an entry is to be read. */
interface EntryReading {
  /** Its path: messages begin with it. */
  readonly at: string;
  /** Whether it may use nothing of the machine: see `confine`. */
  readonly isConfined: boolean;
}

/** What an entry means by itself, whatever the other entries are. */
interface ReadEntry {
  readonly warnings: readonly AccountWarning[];
  /** @throws InvalidInputError for an entry that is wrong */
  get(): KubernetesAccount;
}

const readEntry = rememberEntries(parseEntry);

function parseEntry(entry: JsonValue, reading: EntryReading): ReadEntry {
  const { at } = reading;
  const name = findEntryName(entry) ?? at;
  const unknown = describeUnknownKeys(entry, { at, options: accountOptions }).map((reason) => ({
    message: 'account with an unknown key',
    account: name,
    reason,
  }));
  try {
    const fields = parseAccountFields(entry, at);
    const account = createAccount(fields, entry, reading);
    const { kindRegistry } = account;
    const warnings = [...unknown, ...listWarnings(fields, at), ...listUnknownKinds(fields, at, kindRegistry)];
    return { warnings, get: () => account };
  } catch (error) {
    const get = () => {
      throw error;
    };
    return { warnings: unknown, get };
  }
}

/** @throws InvalidInputError; each sentence begins with the path of the setting. */
function createAccount(
  fields: AccountFields,
  entry: JsonValue,
  { at, isConfined }: EntryReading,
): KubernetesAccount {
  const access = parseAccess(asJsonObject(entry) ?? {}, at);
  const violations = [
    ...findUnusableTexts({ ...fields, ...access }, at),
    ...findConflicts(fields).map((conflict) => `${at}.${conflict}`),
  ];
  if (violations.length > 0) throw new InvalidInputError(violations);
  const connection = createConnection(fields, at);
  const v1 = findV1Rules(fields);
  if (isConfined && v1?.configuresPullSecrets) refusePullSecrets(at);
  const registry = createRegistry(fields.customResources, at);
  const kindRegistry = v1 === undefined ? registry : toV1KindRegistry(registry);
  return {
    name: fields.name,
    cloudProvider: 'kubernetes',
    environment: fields.environment || fields.name,
    accountType: fields.accountType || fields.name,
    ...access,
    details: createDetails(fields, kindRegistry),
    agentHome: createAgentAccess(fields, at),
    connection: isConfined ? confine(connection, at) : connection,
    namespaces: listNamedNamespaces(fields),
    omitNamespaces: fields.omitNamespaces,
    clusterScopedKinds: v1 === undefined && (fields.clusterScopedKinds ?? true),
    customResources: fields.customResources,
    kindRegistry,
    metrics: fields.metrics,
    readiness: findReadinessRules(fields.readiness) ?? 'clouddriver',
    caching: createCachingRules(fields),
    v1,
  };
}

/** The account's creator chooses its cluster, and could read there the password of any registry in the settings. */
function refusePullSecrets(at: string): never {
  throw new InvalidInputError(
    `${at}.configureImagePullSecrets: expected false: pull secrets hold the passwords of registries, which accounts made by an API ` +
      `may use only where ${machineAccessPath} is true`,
  );
}

/** Settings that may not mean what was intended. */
function listWarnings(fields: AccountFields, at: string): readonly AccountWarning[] {
  if (findV1Rules(fields) !== undefined) return [];
  const { name, dockerRegistries } = fields;
  const reason =
    `${at}.dockerRegistries: of no effect without providerVersion v1: set that if the account is one of the V1 provider, which was ` +
    'the default once, else leave dockerRegistries out';
  return [
    ...(dockerRegistries.length > 0 ? [{ message: 'setting of no effect', account: name, reason }] : []),
    ...listOpenKinds(fields, at),
  ];
}

/** Kinds without a group that Kubernetes does not have: of these nothing is cached, or left out. */
function listUnknownKinds(fields: AccountFields, at: string, registry: KindRegistry): AccountWarning[] {
  const names = registry.kinds.map((kind) => kind.name);
  return (['kinds', 'omitKinds'] as const).flatMap((option) =>
    fields[option].flatMap((kind, index) => {
      if (kind.includes('.') || registry.find(kind).known) return [];
      const near = findNearName(kind, names);
      const advice =
        near === undefined ? 'a custom one has its group: Tram.example.com' : `did you mean ${near}?`;
      const reason = `${at}.${option}[${index}]: there is no kind '${kind}': ${advice}`;
      return [{ message: 'account with an unknown kind', account: fields.name, reason }];
    }),
  );
}

/** See docs/decisions/0033-bounds-of-an-account.md. */
function listOpenKinds(fields: AccountFields, at: string): readonly AccountWarning[] {
  const { name, namespaces, clusterScopedKinds } = fields;
  if (namespaces.length === 0 || clusterScopedKinds !== undefined) return [];
  const reason =
    `${at}.clusterScopedKinds: the account names its namespaces, and yet may use kinds that live in none, such as ` +
    'clusterRole: set it to false to refuse them, or to true to allow them and be told no more';
  return [{ message: 'account open to cluster-scoped kinds', account: name, reason }];
}

/** What is wrong with the names of namespaces; each begins with the path of its setting. */
function findNamespaceConflicts(fields: AccountFields): string[] {
  const isV1 = findV1Rules(fields) !== undefined;
  const named = { ...fields, ...(isV1 && { namespaces: listNamedNamespaces(fields) }) };
  return (['namespaces', 'omitNamespaces'] as const).flatMap((option) =>
    named[option].flatMap((namespace, index) => {
      const problem = findNamespaceProblem(namespace);
      return problem === undefined ? [] : [`${option}[${index}]: ${problem}`];
    }),
  );
}

/** What is wrong with the combination of fields that are each valid. */
function findConflicts(fields: AccountFields): readonly string[] {
  const { kindExpressions = [], omitKindExpressions = [] } = fields.rawResourcesEndpointConfig ?? {};
  const pairs = [
    ['namespaces', fields.namespaces, 'omitNamespaces', fields.omitNamespaces],
    ['kinds', fields.kinds, 'omitKinds', fields.omitKinds],
    [
      'rawResourcesEndpointConfig.kindExpressions',
      kindExpressions,
      'omitKindExpressions',
      omitKindExpressions,
    ],
  ] as const;
  const conflicts = pairs
    .filter(([, only, , omitted]) => only.length > 0 && omitted.length > 0)
    .map(([only, , omitted]) => `${only}: expected to be empty where ${omitted} is set`);
  conflicts.push(...findNamespaceConflicts(fields));
  if (fields.name.trim() === '') conflicts.push('name: expected a name, got an empty string');
  if (fields.namingStrategy !== 'kubernetesAnnotations') {
    conflicts.push("namingStrategy: expected 'kubernetesAnnotations', the only one there is");
  }
  if (fields.oAuthServiceAccount) {
    conflicts.push('oAuthServiceAccount: not supported: expected a kubeconfig that says how to log in');
  }
  if (findCacheMode(fields.cacheMode) === undefined) {
    conflicts.push(`cacheMode: expected one of ${cacheModes.join(', ')}`);
  }
  if (findReadinessRules(fields.readiness) === undefined) {
    conflicts.push(`readiness: expected one of ${readinessRules.join(', ')}`);
  }
  conflicts.push(
    ...findV1Conflicts(fields),
    ...findConnectionConflicts(fields),
    ...findAgentConflicts(fields),
  );
  for (const expression of [...kindExpressions, ...omitKindExpressions]) {
    if (!isRegularExpression(expression))
      conflicts.push('rawResourcesEndpointConfig: expected regular expressions');
  }
  return conflicts;
}

const cacheModes: readonly CacheModeSetting[] = ['automatic', 'interval', 'stream'];

function findCacheMode(text: string): CacheModeSetting | undefined {
  return cacheModes.find((mode) => mode === text.trim().toLowerCase());
}

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function createRegistry(customResources: readonly CustomResource[], at: string): KindRegistry {
  try {
    return createKindRegistry(customResources);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(
      error.errors.map((message) => `${at}.${message}`),
      { cause: error },
    );
  }
}

function createCachingRules(fields: AccountFields): CachingRules {
  return {
    kinds: fields.kinds,
    omitKinds: fields.omitKinds,
    policies: fields.cachingPolicies,
    intervalSeconds: fields.cacheIntervalSeconds,
    mode: findCacheMode(fields.cacheMode) ?? 'automatic',
    allApplicationRelationships: fields.cacheAllApplicationRelationships,
    rawResources: fields.rawResourcesEndpointConfig ?? { kindExpressions: [], omitKindExpressions: [] },
    onlySpinnakerManaged: fields.onlySpinnakerManaged,
  };
}

/** What the expanded view shows in addition to the fields of all providers. */
function createDetails(fields: AccountFields, { spinnakerKindMap }: KindRegistry): JsonObject {
  const { cacheIntervalSeconds } = fields;
  const v1 = findV1Rules(fields);
  return {
    enabled: true,
    cacheThreads: fields.cacheThreads,
    namespaces: [...fields.namespaces],
    providerVersion: v1 === undefined ? 'v2' : 'v1',
    skin: fields.skin || (v1 === undefined ? 'v2' : 'v1'),
    dockerRegistries: (v1?.registries ?? []).map(({ accountName, namespaces }) => ({
      accountName,
      namespaces: namespaces.length > 0 ? [...namespaces] : [...fields.namespaces],
    })),
    spinnakerKindMap: { ...spinnakerKindMap },
    ...(cacheIntervalSeconds !== undefined && { cacheIntervalSeconds }),
  } satisfies Omit<KubernetesAccountView, keyof AccountView>;
}

/** The name in an entry of the list, even if the rest is invalid. */
export function findEntryName(entry: JsonValue): string | undefined {
  const name = findMember(asJsonObject(entry) ?? {}, 'name') ?? null;
  return typeof name === 'object' ? undefined : String(name).trim() || undefined;
}

import type { Account, AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import { parseAccess } from '#accounts/permissions.ts';
import { rememberEntries } from '#accounts/remembered-entries.ts';
import type { AccountView, DockerRegistryAccountView } from '#contract/answers/credentials.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { CredentialsOwner } from '#oci/credentials.ts';
import { isRepositoryName } from '#oci/names.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { machineAccessPath, parseAccountsFlag } from '#settings/account-storage.ts';
import { booleanField, parseAt } from '#settings/coerce.ts';
import { findReferenceProblems, isSecretReference } from '#settings/secret-reference.ts';
import { findMember, getSetting } from '#settings/spring-config.ts';
import { hasPlaceholder } from '#settings/spring-placeholders.ts';
import { type AccountFields, accountsPath, enabledPath, parseAccountFields } from './account-fields.ts';
import { type EcrRegistry, findEcrRegistry, isEcrHost } from './ecr-account.ts';

/** The most characters of a pattern for names of repositories. */
const patternLengthMax = 1_000;

/** Which repositories of a registry are cached. */
export interface RepositoryChoice {
  /** Only these; empty for those of the catalog. */
  readonly names: readonly string[];
  /** Path of a file with a catalog that replaces the registry's: `{"repositories": […]}`. */
  readonly catalogFile: string | undefined;
  /** Matches the whole names of the catalog that count; undefined for all. */
  readonly pattern: RegExp | undefined;
  /** Names that do not count. */
  readonly skip: ReadonlySet<string>;
}

/** A Docker registry account. */
export interface RegistryAccount extends Account, CredentialsOwner {
  /** Base URL of the API, which is at `v2/` below it. It ends with a slash. */
  readonly baseUrl: URL;
  /** For pull secrets; empty if there is none. */
  readonly email: string;
  readonly repositories: RepositoryChoice;
  /** Repositories of charts: those of `helmOciRepositories`, or none if that is empty. */
  readonly charts: RepositoryChoice;
  readonly intervalMs: number;
  /** How much is requested of the registry at a time, from 1: the option `cacheThreads`. */
  readonly threads: number;
  /** Time limit of an answer, milliseconds. */
  readonly timeoutMs: number;
  /** Repositories, or tags, of one page. */
  readonly pageSize: number;
  /** Whether digests of tags are cached. */
  readonly trackDigests: boolean;
  /** Whether labels of images are cached. */
  readonly inspectDigests: boolean;
  /** Whether tags are listed newest first. */
  readonly sortTagsByDate: boolean;
  /** Whether to accept any certificate of the registry. */
  readonly insecure: boolean;
  /** Hosts besides the registry's that may be called at any address. */
  readonly trustedHosts: ReadonlySet<string>;
  /** Its options as they are written. */
  readonly fields: AccountFields;
  /** The Amazon ECR registry, which is called by its own API; undefined for any other registry. */
  readonly ecr: EcrRegistry | undefined;
}

/** The accounts of a configuration: the usable ones, and the others with the reason. */
export interface ParsedAccounts {
  readonly accounts: readonly RegistryAccount[];
  readonly rejected: readonly RejectedAccount[];
  readonly warnings: readonly AccountWarning[];
}

type ParseOptions = Pick<ProviderContext, 'settings' | 'accounts' | 'placement'>;

/**
 * Reads accounts made by an API, and then `dockerRegistry.accounts`. An account that is wrong is rejected, and the others are read. Of two
 * with one name only the first counts, even if it is rejected: the second may be open to more people. There are none when
 * `dockerRegistry.enabled` is false.
 */
export function parseRegistryAccounts(options: ParseOptions): ParsedAccounts {
  const accounts: RegistryAccount[] = [];
  const rejected: RejectedAccount[] = [];
  const warnings: AccountWarning[] = [];
  const names = new Set(options.accounts?.takenNames);
  const attempt = (name: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      rejected.push({ name, reason: error.message });
    }
  };
  attempt(accountsPath, () => {
    const mayUseMachine = parseAccountsFlag(options.settings, machineAccessPath);
    for (const { entry, at, isStored } of listEntries(options)) {
      const name = findEntryName(entry);
      attempt(name || at, () => {
        if (names.has(name)) throw new InvalidInputError(`${at}.name: an earlier account has this name`);
        if (name !== '') names.add(name);
        const { placement } = options;
        const read = readEntry(entry, { placement, at, isConfined: isStored && !mayUseMachine });
        if (read.account === undefined) throw read.error;
        accounts.push(read.account);
        warnings.push(...read.warnings);
      });
    }
  });
  return { accounts, rejected, warnings };
}

/** An account as it was defined. */
export interface AccountEntry {
  readonly entry: JsonValue;
  /** Its place: messages begin with it. */
  readonly at: string;
  /** Whether an API made it. */
  readonly isStored: boolean;
}

/** The accounts as they were defined, those made by an API first. @throws InvalidInputError if the settings have no list. */
export function listEntries({
  settings,
  accounts: { stored = [] } = {},
}: Pick<ParseOptions, 'settings' | 'accounts'>): readonly AccountEntry[] {
  const isEnabled = parseAt(booleanField(), getSetting(settings, enabledPath), enabledPath) ?? true;
  const list = getSetting(settings, accountsPath) || [];
  if (!Array.isArray(list)) throw new InvalidInputError(`${accountsPath}: expected a list of accounts`);
  if (!isEnabled) return [];
  return [
    ...stored.map((entry) => ({
      ...{ entry, at: `stored account "${findEntryName(entry)}"`, isStored: true },
    })),
    ...list.map((entry, index) => ({ entry, at: `${accountsPath}[${index}]`, isStored: false })),
  ];
}

/** The name of an entry, even if the rest is invalid; empty if it has none. */
export function findEntryName(entry: JsonValue): string {
  const name = findMember(asJsonObject(entry) ?? {}, 'name') ?? '';
  return typeof name === 'object' ? '' : String(name).trim();
}

interface EntryReading extends Pick<ParseOptions, 'placement'>, Pick<AccountEntry, 'at'> {
  /** Whether it may use nothing of the machine, and send no identity of ours to a host of its choice. */
  readonly isConfined: boolean;
}

const readEntry = rememberEntries((entry, reading: EntryReading) => {
  try {
    const fields = parseAccountFields(entry, reading.at);
    const account = createAccount(fields, entry, reading);
    return { account, warnings: listWarnings(fields, reading.at) };
  } catch (error) {
    return { error };
  }
});

function createAccount(fields: AccountFields, entry: JsonValue, reading: EntryReading): RegistryAccount {
  const { at } = reading;
  const access = parseAccess(asJsonObject(entry) ?? {}, at);
  const name = findEntryName(entry);
  const violations = [...findConflicts(fields, name), ...findUnusable(fields, reading)];
  if (violations.length > 0)
    throw new InvalidInputError(violations.map((violation) => `${at}: ${violation}`));
  const baseUrl = parseAddress(fields.address ?? '', at);
  const address = baseUrl.href.slice(0, -1);
  const registry = address.slice(baseUrl.protocol.length + 2);
  return {
    name,
    cloudProvider: 'dockerRegistry',
    environment: fields.environment || name,
    accountType: fields.accountType || name,
    ...access,
    details: createDetails(fields, address, registry),
    baseUrl,
    registry,
    email: fields.email ?? '',
    credentials: fields,
    fields,
    repositories: createChoice(fields, at),
    charts: {
      names: [...new Set(fields.helmOciRepositories)],
      ...{ catalogFile: undefined, pattern: undefined, skip: new Set() },
    },
    intervalMs: (fields.cacheIntervalSeconds || 30) * 1000,
    threads: fields.cacheThreads || 1,
    timeoutMs: fields.clientTimeoutMillis || 60_000,
    pageSize: fields.paginateSize || 100,
    trackDigests: fields.trackDigests,
    inspectDigests: fields.inspectDigests,
    sortTagsByDate: fields.sortTagsByDate,
    insecure: fields.insecureRegistry,
    trustedHosts: new Set(fields.trustedHosts.map((host) => host.toLowerCase())),
    ecr: createEcr(fields, baseUrl, reading),
  };
}

function createEcr(
  fields: AccountFields,
  { protocol, hostname }: URL,
  { at, isConfined }: EntryReading,
): EcrRegistry | undefined {
  const hasPassword = listPasswords(fields).length > 0;
  const registry = findEcrRegistry(hostname, { ecr: fields.ecr, hasPassword }, at);
  const isSafe = protocol === 'https:' && isEcrHost(hostname) && !fields.insecureRegistry;
  if (registry === undefined || isSafe || !isConfined) return registry;
  throw new InvalidInputError(
    `${at}.address: expected the registry's own at Amazon ECR, by https and without insecureRegistry: other hosts would receive ` +
      `Busdriver's token, as they may of accounts made by an API only where ${machineAccessPath} is true`,
  );
}

/** What is wrong with the combination of valid options, in Clouddriver's words. */
function findConflicts(fields: AccountFields, name: string): readonly string[] {
  const { repositories, catalogFile, repositoriesRegex } = fields;
  const chosen = Object.entries({ repositories: repositories.length > 0, catalogFile, repositoriesRegex })
    .filter(([, value]) => value)
    .map(([option]) => option);
  return [
    ...(name === '' ? ['Docker Registry account must be provided with a name.'] : []),
    ...(fields.address ? [] : [`Docker Registry account ${name} must provide an endpoint address.`]),
    ...(chosen.length > 1 ? [`${chosen.join(' and ')} may not be specified together.`] : []),
    ...findWrongNames('repositories', repositories),
    ...findWrongNames('helmOciRepositories', fields.helmOciRepositories),
    ...(listPasswords(fields).length > 1
      ? ['at most one of password, passwordFile, passwordCommand and dockerconfigFile may be specified.']
      : []),
  ];
}

function findWrongNames(option: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name, index) =>
    isRepositoryName(name)
      ? []
      : [`${option}[${index}]: expected the name of a repository, such as library/nginx`],
  );
}

/** The options that give its password. */
function listPasswords(fields: AccountFields): readonly unknown[] {
  const { password, passwordFile, passwordCommand, dockerconfigFile } = fields;
  return [password, passwordFile, passwordCommand, dockerconfigFile].filter(Boolean);
}

/** Options that name a file or a program of the machine. */
const machineOptions = ['passwordFile', 'passwordCommand', 'dockerconfigFile', 'catalogFile'] as const;

/** Options that may be references to secrets. */
const secretOptions: readonly string[] = ['username', 'password'];

/** What cannot work: an unresolved placeholder, a reference where none is allowed, a file where functions have none. */
function findUnusable(fields: AccountFields, { placement, isConfined }: EntryReading): readonly string[] {
  const texts = Object.entries(fields).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const unusable = texts.flatMap(([option, value]) => {
    if (hasPlaceholder(value)) return [`${option}: its placeholder has no value`];
    if (!isSecretReference(value)) return [];
    if (!secretOptions.includes(option))
      return [`${option}: expected the value itself, no reference to a secret`];
    return findReferenceProblems(value, option);
  });
  const onMachine = machineOptions.filter((option) => fields[option]);
  if (placement === 'deployed') return [...unusable, ...onMachine.map((option) => `${option}: ${noMachine}`)];
  return isConfined ? [...unusable, ...onMachine.map((option) => `${option}: ${foreignMachine}`)] : unusable;
}

const noMachine = 'deployed functions read no files and run no programs: use a reference to a secret';

const foreignMachine =
  'a file or program of the machine that Busdriver runs on, which accounts made by an API may use only where ' +
  `${machineAccessPath} is true`;

/** Reads an address. Removes a slash at its end and `/v2`, as in Clouddriver. @throws InvalidInputError, which does not quote it. */
function parseAddress(text: string, at: string): URL {
  const trimmed = text.trim().replace(/\/$/, '').replace(/\/v2$/, '');
  const url = URL.parse(trimmed);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new InvalidInputError(
      `${at}.address: expected a URL with http or https, such as https://registry.example.com`,
    );
  }
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new InvalidInputError(`${at}.address: expected no user, password, query or fragment in it`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function createChoice(fields: AccountFields, at: string): RepositoryChoice {
  return {
    names: [...new Set(fields.repositories)],
    catalogFile: fields.catalogFile || undefined,
    pattern: fields.repositoriesRegex ? parsePattern(fields.repositoriesRegex, at) : undefined,
    skip: new Set(fields.skip),
  };
}

/** The pattern that a whole name must match, as in Java. */
function parsePattern(text: string, at: string): RegExp {
  try {
    if (text.length <= patternLengthMax) return new RegExp(`^(?:${text})$`, 'u');
  } catch {
    // Its message would quote the pattern.
  }
  throw new InvalidInputError(
    `${at}.repositoriesRegex: expected a regular expression of at most ${patternLengthMax} characters`,
  );
}

type Shown = Omit<DockerRegistryAccountView, keyof AccountView | 'email'> & { readonly email: string | null };

/** The additional details in `GET /credentials`: never the user, the password or the repositories. */
function createDetails(fields: AccountFields, address: string, registry: string): JsonObject {
  return {
    address,
    registry,
    email: fields.email ?? null,
    trackDigests: fields.trackDigests,
    inspectDigests: fields.inspectDigests,
    sortTagsByDate: fields.sortTagsByDate,
    cacheIntervalSeconds: fields.cacheIntervalSeconds || 30,
    cacheThreads: fields.cacheThreads || 1,
    clientTimeoutMillis: fields.clientTimeoutMillis || 60_000,
    paginateSize: fields.paginateSize || 100,
    insecureRegistry: fields.insecureRegistry,
    v2Endpoint: `${address}/v2`,
    skip: [...fields.skip],
  } satisfies Shown;
}

/** As in Clouddriver: such a blank usually came from a file. */
function listWarnings({ password, ...fields }: AccountFields, at: string): readonly AccountWarning[] {
  if (password === undefined || password === password.trim()) return [];
  const reason = `${at}.password: it begins or ends with blanks, which are sent as they are`;
  return [{ message: 'password with blanks around it', account: fields.name ?? at, reason }];
}

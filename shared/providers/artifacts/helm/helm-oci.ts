import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { isDigest, isRepositoryName, isTag } from '#oci/names.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { booleanField, intField, nameListField, stringField } from '#settings/coerce.ts';
import { findMember } from '#settings/spring-config.ts';
import { startAccountDownloader } from '../download/account-downloader.ts';
import { assertNoOrigins, readServerUrl } from '../download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from '../download/account-settings.ts';
import { assertCredentialsUsable } from '../download/authorization.ts';
import { downloadLimits } from '../download/download-limits.ts';
import type { OpenedSources, SourceOptions } from '../download/source.ts';
import type { ChartPlace, ChartRegistry } from './chart-registry.ts';

/** The additional fields of an account of charts in a registry. */
export const helmOciAccountFields = {
  address: stringField(),
  username: stringField(),
  password: stringField(),
  passwordFile: stringField(),
  passwordCommand: stringField(),
  dockerconfigFile: stringField(),
  email: stringField(),
  insecureRegistry: booleanField(),
  helmOciRepositories: nameListField(),
  clientTimeoutMillis: intField({ min: 0, max: downloadLimits.answerTimeoutMs }),
  paginateSize: intField({ min: 0, max: 10_000 }),
};

/** Settings of Clouddriver's charts on disk below `artifacts.helm-oci`, which have no effect: no chart is kept. */
export const helmOciFileSettings = [
  'cloneRetentionMinutes',
  'cloneRetentionCheckMs',
  'cloneRetentionMaxBytes',
  'cloneWaitLockTimeoutSec',
];

/** Options of which an account has at most one. */
const passwordOptions = ['password', 'passwordFile', 'passwordCommand', 'dockerconfigFile'] as const;

/**
 * The accounts of charts in registries: the name of an artifact is a repository of the registry, its version a tag or a digest.
 *
 * Clouddriver creates one for each account of `dockerRegistry.accounts` with `helmOciRepositories`; they may also be in
 * `artifacts.helm-oci.accounts`, where deployed functions that fetch artifacts look.
 */
export function openHelmOciSources(options: SourceOptions): OpenedSources {
  const shared = { section: 'dockerRegistry', list: 'accounts', isMeant: hasRepositories };
  const kind = { kind: 'helm-oci', types: ['helm/image'], shared, open: openHelmOciAccount };
  return openConfiguredAccounts(kind, options);
}

function hasRepositories(settings: JsonObject): boolean {
  const repositories = findMember(settings, 'helmOciRepositories');
  return Array.isArray(repositories) ? repositories.length > 0 : Boolean(repositories);
}

function openHelmOciAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const { name, context } = account;
  const settings = parseSettings(helmOciAccountFields, account.settings, context);
  assertNoOrigins(account, 'address');
  assertAccountUsable(settings, context);
  assertCredentialsUsable(settings, context, options.placement);
  const baseUrl = readServerUrl(account, 'address');
  baseUrl.pathname = baseUrl.pathname.replace(/\/v2\/$/, '/');
  const { clientTimeoutMillis: timeoutMs, insecureRegistry } = settings;
  const timeouts = timeoutMs ? { headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs } : {};
  const downloader = startAccountDownloader(
    account,
    { ...options, limits: { ...timeouts, ...options.limits } },
    insecureRegistry === true ? baseUrl.origin : undefined,
  );
  let opening: Promise<ChartRegistry> | undefined;
  /** Loaded late: most functions open artifact accounts, and only one calls registries. */
  const openRegistry = (): Promise<ChartRegistry> => {
    opening ??= import('./chart-registry.ts').then(({ openChartRegistry }) =>
      openChartRegistry({
        ...{ name, context, baseUrl, downloader, credentials: settings },
        ...{ pageSize: settings.paginateSize || 100, parts: options },
      }),
    );
    return opening;
  };
  return {
    async fetch(artifact, signal) {
      const place = parsePlace(artifact);
      return { body: await (await openRegistry()).readChart(place, signal) };
    },
    listNames: async () => settings.helmOciRepositories ?? [],
    listVersions: async (repository, signal) =>
      (await openRegistry()).listVersions(parseRepository(repository), signal),
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** @throws InvalidInputError naming the invalid key */
function assertAccountUsable(
  settings: {
    readonly [option in (typeof passwordOptions)[number]]?: string | undefined;
  } & { readonly helmOciRepositories?: readonly string[] | undefined },
  context: string,
): void {
  const wrong = settings.helmOciRepositories?.findIndex((each) => !isRepositoryName(each)) ?? -1;
  if (wrong >= 0) {
    throw new InvalidInputError(
      `${context}: helmOciRepositories[${wrong}]: expected the name of a repository, such as charts/shop`,
    );
  }
  if (passwordOptions.filter((option) => settings[option]).length > 1) {
    throw new InvalidInputError(
      `${context}: at most one of ${passwordOptions.slice(0, -1).join(', ')} and ${passwordOptions.at(-1)} may be specified`,
    );
  }
}

/** @throws InvalidInputError if an artifact names no repository, or its version is neither a tag nor a digest */
function parsePlace({ name, version = '' }: Artifact): ChartPlace {
  const repository = parseRepository(name);
  if (version.trim() === '') return { repository, tag: undefined };
  // Tags cannot contain a plus sign: Helm writes a version with one as a tag with an underscore.
  const tag = version.replaceAll('+', '_');
  if (isTag(tag) || isDigest(tag)) return { repository, tag };
  throw new InvalidInputError('version: expected the version of a chart, or a digest such as sha256:…');
}

function parseRepository(name: string | undefined): string {
  if (name && isRepositoryName(name)) return name;
  throw new InvalidInputError('name: expected the name of a repository, such as charts/shop');
}

import { InvalidInputError } from '#core/errors.ts';
import { jsonObjectField, stringListField } from '#settings/coerce.ts';
import { startAccountDownloader } from '../download/account-downloader.ts';
import { assertNoOrigins } from '../download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from '../download/account-settings.ts';
import {
  type Authorizer,
  assertCredentialsUsable,
  basicCredentialFields,
  type Credentials,
  createAuthorizedReader,
  createAuthorizer,
} from '../download/authorization.ts';
import type { OpenedSources, SourceOptions } from '../download/source.ts';
import type { IvyAccount, ReadIvyFile } from './ivy-files.ts';
import { getPatternOrigin } from './ivy-patterns.ts';
import { type IvyResolver, type IvySettings, parseIvySettings } from './ivy-settings.ts';

/** The configuration that Clouddriver resolves. */
const usualConfigurations: readonly string[] = ['master'];

/** The additional fields of an Ivy account. */
export const ivyAccountFields = {
  settings: jsonObjectField(),
  resolveConfigurations: stringListField(),
  ...basicCredentialFields,
};

/**
 * The accounts of `artifacts.ivy`: the first file of a module, which resolvers of the account's `settings` find. Credentials go to the host
 * that the settings name for them, or to the single server of all resolvers.
 */
export function openIvySources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 'ivy', types: ['ivy/file'], open: openIvyAccount }, options);
}

function openIvyAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const { name, context } = account;
  const fields = parseSettings(ivyAccountFields, account.settings, context);
  const settings = parseIvySettings(fields.settings ?? {}, `${context}: settings`);
  assertNoOrigins(account, 'resolvers');
  const authorize = openAuthorizer(account, settings, options);
  const reader = createAuthorizedReader(startAccountDownloader(account, options), authorize);
  const { open } = reader;
  const configurations = fields.resolveConfigurations ?? usualConfigurations;
  const own: IvyAccount = { name, resolvers: settings.resolvers, configurations, open, options };
  let reading: Promise<ReadIvyFile> | undefined;
  // Loaded late, with an XML parser: most functions open artifact accounts, and only one downloads.
  const load = async () => (await import('./ivy-files.ts')).createIvyReader(own);
  return {
    async fetch(artifact, signal) {
      reading ??= load();
      return { body: await (await reading)(artifact, signal) };
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

/** Authenticates only at the origins for which the credentials are meant. */
function openAuthorizer(
  account: ConfiguredAccount,
  { resolvers, credentials }: IvySettings,
  options: SourceOptions,
): Authorizer {
  const { context, settings } = account;
  const own: Credentials = parseSettings(basicCredentialFields, settings, context);
  const hasOwn = Object.values(own).some(Boolean);
  if (hasOwn && credentials !== undefined) {
    throw new InvalidInputError(`${context}: settings: credentials: not beside those of the account itself`);
  }
  const used: Credentials = credentials ?? own;
  assertCredentialsUsable({ ...used }, context, options.placement);
  const origins = new Set(
    listOrigins(resolvers, credentials && (credentials.host ?? '')).map(({ origin }) => origin),
  );
  if (credentials !== undefined && origins.size === 0) {
    throw new InvalidInputError(`${context}: settings: credentials: host: expected that of a resolver`);
  }
  if (hasOwn && origins.size > 1) {
    throw new InvalidInputError(
      `${context}: username: expected resolvers of one server; for several, settings.credentials names the host`,
    );
  }
  const authorize = createAuthorizer(used, account, options);
  return async (url, isRefused) => (origins.has(url.origin) ? authorize(url, isRefused) : undefined);
}

/** The origins of resolvers, limited to a host if there is one. */
function listOrigins(resolvers: readonly IvyResolver[], host: string | undefined): readonly URL[] {
  const patterns = resolvers.flatMap(({ descriptors, artifacts }) => [...descriptors, ...artifacts]);
  const wanted = host?.toLowerCase();
  return patterns.map(getPatternOrigin).filter(({ hostname }) => wanted === undefined || hostname === wanted);
}

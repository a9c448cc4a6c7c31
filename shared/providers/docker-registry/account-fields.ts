import { accessKeys } from '#accounts/permissions.ts';
import type { JsonValue } from '#core/json.ts';
import type { AccountOptions } from '#provider-kit/stored-accounts.ts';
import {
  booleanField,
  intField,
  nameListField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import { ecrField, ecrOptions } from './ecr-account.ts';

/** Path of the accounts in Spinnaker's configuration. */
export const accountsPath = 'dockerRegistry.accounts';

/** The setting that switches all of them off if it is false. */
export const enabledPath = 'dockerRegistry.enabled';

/** The most `cacheThreads` of an account. Each allows more concurrent requests, and more requests a second: see `limits.ts`. */
export const cacheThreadsMax = 10;

const names = withDefault(nameListField(), []);
const flag = withDefault(booleanField(), false);

/** The options of an account, in Clouddriver's names and with its defaults; `trustedHosts` and `ecr` are ours. */
const accountShape = {
  name: stringField(),
  environment: stringField(),
  accountType: stringField(),
  address: stringField(),
  username: stringField(),
  password: stringField(),
  passwordFile: stringField(),
  passwordCommand: stringField(),
  dockerconfigFile: stringField(),
  email: stringField(),
  repositories: names,
  helmOciRepositories: names,
  catalogFile: stringField(),
  repositoriesRegex: stringField(),
  skip: names,
  cacheIntervalSeconds: withDefault(intField({ min: 0 }), 30),
  cacheThreads: withDefault(intField({ min: 0, max: cacheThreadsMax }), 1),
  clientTimeoutMillis: withDefault(intField({ min: 0 }), 60_000),
  paginateSize: withDefault(intField({ min: 0, max: 10_000 }), 100),
  trackDigests: flag,
  inspectDigests: flag,
  sortTagsByDate: flag,
  insecureRegistry: flag,
  trustedHosts: names,
  ecr: ecrField,
};

const accountSchema = requireField(settingsField(accountShape));

/** One entry of `dockerRegistry.accounts`, whose options are each valid. */
export type AccountFields = ReturnType<typeof parseAccountFields>;

/** What an account may have. Halyard and the Operator also write some that change nothing here. */
export const accountOptions = {
  known: Object.keys(accountShape),
  nested: { ecr: ecrOptions },
  ignored: ['providerVersion', 'type'],
} satisfies AccountOptions;

/** All that is known of the settings of Docker registries. */
export const knownSettings: readonly string[] = [
  enabledPath,
  'dockerRegistry.primaryAccount',
  ...[...accountOptions.known, ...accessKeys, ...accountOptions.ignored].map(
    (option) => `${accountsPath}.*.${option}`,
  ),
];

/**
 * Reads one entry of `dockerRegistry.accounts`.
 *
 * @param at its path, for messages.
 * @throws InvalidInputError with one sentence for each wrong option, which begins with its path.
 */
export function parseAccountFields(entry: JsonValue, at: string) {
  return parseAt(accountSchema, entry, at);
}

/**
 * Which options of an account are public. A new option must say so here: `false` for options that hold a credential or say where one is,
 * and for those needed only to reach the registry.
 */
export const publicAccountOptions: { readonly [option in keyof AccountFields]: boolean } = {
  name: true,
  environment: true,
  accountType: true,
  address: true,
  username: false,
  password: false,
  passwordFile: false,
  passwordCommand: false,
  dockerconfigFile: false,
  email: true,
  repositories: false,
  helmOciRepositories: false,
  catalogFile: false,
  repositoriesRegex: false,
  skip: true,
  cacheIntervalSeconds: true,
  cacheThreads: true,
  clientTimeoutMillis: true,
  paginateSize: true,
  trackDigests: true,
  inspectDigests: true,
  sortTagsByDate: true,
  insecureRegistry: true,
  trustedHosts: false,
  ecr: false,
};

import type { JsonValue } from '#core/json.ts';
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
import { ecrField } from './ecr-account.ts';

/** Where the accounts stand in Spinnaker's configuration. */
export const accountsPath = 'dockerRegistry.accounts';

/** What switches all of them off where it is false. */
export const enabledPath = 'dockerRegistry.enabled';

/** Connections that an account may have at a time, and seconds' requests by tens: what `cacheThreads` stands for here. */
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

/** One entry of `dockerRegistry.accounts`, each option by itself right. */
export type AccountFields = ReturnType<typeof parseAccountFields>;

/** Names of all options of an account, but for those that say who may use it. */
export const accountOptions: readonly string[] = Object.keys(accountShape);

/**
 * Reads one entry of `dockerRegistry.accounts`.
 *
 * @param at where it stands, for messages.
 * @throws InvalidInputError with one sentence for each option that is wrong, which begins with its path.
 */
export function parseAccountFields(entry: JsonValue, at: string) {
  return parseAt(accountSchema, entry, at);
}

/**
 * Which options of an account are public. A new option must say so here: `false` for whatever holds a credential or says where one is,
 * and for what is only needed to reach the registry.
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

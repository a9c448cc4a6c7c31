import type { JsonObject } from '#core/json.ts';
import { booleanField, parseWith, withDefault } from './coerce.ts';
import { getSetting } from './spring-config.ts';

/** Where the settings say whether accounts may be made by an API; the name is Clouddriver's. */
export const accountStoragePath = 'account.storage.enabled';

/** Where the settings say that whoever reaches the API may manage accounts though nobody tells rights. */
export const openToManagePath = 'busdriver.accounts.writableWithoutFiat';

/** What callers are told where nobody tells rights and the settings do not say that. */
export const closedToManage = `accounts cannot be changed without Fiat unless ${openToManagePath} is true`;

/** What who has saved an account is told where its permissions shut him out, and nobody tells rights. */
export const shutOut =
  'permissions: without Fiat you may not use this account, or change it again, unless X-SPINNAKER-ACCOUNTS lists it, as Gate does for ' +
  'its WRITE groups';

/** Where the settings say that definitions may hold secrets. */
export const plainSecretsPath = 'busdriver.accounts.allowPlainSecrets';

/** Where the settings say that whoever manages accounts may refer to secrets that say nothing of who may use them. */
export const rolelessSecretsPath = 'busdriver.accounts.allowSecretsWithoutRoles';

/** Where the settings say that definitions may use what is on the machine: files, programs, the pod's own credentials. */
export const machineAccessPath = 'busdriver.accounts.allowMachineAccess';

/**
 * Where the settings name the hosts to which accounts made by an API may have tokens of a broker sent: names or addresses,
 * `*.example.com` for all below one, `*` for any.
 */
export const brokerHostsPath = 'busdriver.accounts.tokenBrokerHosts';

/** A setting that is true or false, and false where nothing is said. @throws InvalidInputError for anything else */
export function parseAccountsFlag(settings: JsonObject, path: string): boolean {
  return parseWith(withDefault(booleanField(), false), getSetting(settings, path), path);
}

/**
 * Whether accounts may be made by an API, and those that were count. The default is Clouddriver's, false, but for one machine: there
 * it is true.
 *
 * @throws InvalidInputError for what is neither true nor false
 */
export function isAccountStorageEnabled(settings: JsonObject, placement: 'local' | 'deployed'): boolean {
  const field = withDefault(booleanField(), placement === 'local');
  return parseWith(field, getSetting(settings, accountStoragePath), accountStoragePath);
}

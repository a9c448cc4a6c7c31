import type { JsonObject } from '#core/json.ts';
import { booleanField, parseWith, withDefault } from './coerce.ts';
import { getSetting } from './spring-config.ts';

/** The setting that says whether an API may create accounts; the name is Clouddriver's. */
export const accountStoragePath = 'account.storage.enabled';

/** The setting that lets every caller of the API manage accounts where no rights are known. */
export const openToManagePath = 'busdriver.accounts.writableWithoutFiat';

/** The refusal where no rights are known and the settings do not say that. */
export const closedToManage = `accounts cannot be changed without Fiat unless ${openToManagePath} is true`;

/** The warning for a caller who has saved an account whose permissions shut them out, where no rights are known. */
export const shutOut =
  'permissions: without Fiat you may not use this account, or change it again, unless X-SPINNAKER-ACCOUNTS lists it, as Gate does for ' +
  'its WRITE groups';

/** The setting that lets definitions hold secrets. Where it is missing, those of programs of this machine may: see `isLocalManager`. */
export const plainSecretsPath = 'busdriver.accounts.allowPlainSecrets';

/** The setting that lets callers that manage accounts refer to secrets that name no users. */
export const rolelessSecretsPath = 'busdriver.accounts.allowSecretsWithoutRoles';

/** The setting that lets definitions use what is on the machine: files, programs, the pod's own credentials. */
export const machineAccessPath = 'busdriver.accounts.allowMachineAccess';

/** The setting of hosts that may get a broker's tokens of accounts made by an API: names or addresses, `*.example.com`, or `*`. */
export const brokerHostsPath = 'busdriver.accounts.tokenBrokerHosts';

/** A setting that is true or false. @param otherwise where it is missing @throws InvalidInputError for anything else */
export function parseAccountsFlag(settings: JsonObject, path: string, otherwise = false): boolean {
  return parseWith(withDefault(booleanField(), otherwise), getSetting(settings, path), path);
}

/**
 * Whether an API may create accounts, and those that it created are used. The default is Clouddriver's, false, except on one machine: there
 * it is true.
 *
 * @throws InvalidInputError for a value that is neither true nor false
 */
export function isAccountStorageEnabled(settings: JsonObject, placement: 'local' | 'deployed'): boolean {
  const field = withDefault(booleanField(), placement === 'local');
  return parseWith(field, getSetting(settings, accountStoragePath), accountStoragePath);
}

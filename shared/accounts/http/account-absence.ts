import { NotFoundError, RefusedChangeError } from '#core/errors.ts';
import type { AccountServices } from '../management/accounts.ts';

/**
 * The name of the account that the settings have under this one in any case. An account of the store that this process knows may be gone by
 * now; where it has only facts, it cannot distinguish the two.
 */
export function findConfigured(
  { providers, storedAccounts }: Pick<AccountServices, 'providers' | 'storedAccounts'>,
  name: string,
): string | undefined {
  const wanted = name.toLowerCase();
  const stored = new Set(storedAccounts.map((account) => account.name));
  const rejected = providers.rejectedAccounts.filter(({ reason }) => !reason.startsWith('stored account'));
  const accounts = providers.accounts.filter((account) => !stored.has(account.name));
  const same = [...accounts, ...rejected].filter((account) => account.name.toLowerCase() === wanted);
  return same.find((account) => account.name === name)?.name ?? same[0]?.name;
}

/** The error for an unknown account, in Clouddriver's words. @param more what to add */
export function toUnknown(name: string, more = ''): NotFoundError {
  return new NotFoundError(`No account found with name ${name}${more}`);
}

/** Why an account that is not stored cannot be deleted. */
export function toAbsence(services: AccountServices, name: string): Error {
  const place = findPlace(services, name);
  if (place === undefined) return toUnknown(name);
  return new RefusedChangeError(`The account ${name} stands in ${place}: remove it there`);
}

/** Why there is no history of an account. */
export function toUnrecorded(services: AccountServices, name: string): NotFoundError {
  const place = findPlace(services, name);
  return toUnknown(name, place && `: it stands in ${place}, whose changes are not recorded here`);
}

/** Where an account of the settings is; undefined for one that they do not have. */
function findPlace({ providers, config }: AccountServices, name: string): string | undefined {
  const accounts = [...providers.accounts, ...providers.rejectedAccounts];
  if (accounts.every((account) => account.name !== name)) return undefined;
  return config.configFiles.join(', ') || config.kubeconfig || "the secret with Spinnaker's YAML";
}

import { createConcurrencyLimit } from '#core/concurrency.ts';
import { AccessDeniedError, getErrorMessage, RefusedChangeError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import { plugins } from '#providers/index.ts';
import { brokerHostsPath, parseAccountsFlag, rolelessSecretsPath } from '#settings/account-storage.ts';
import { listReferredSecrets, type ReferredSecret } from '../definition-secrets.ts';
import type { AccountServices } from '../management/accounts.ts';
import type { AccountDefinition } from '../model/account-store.ts';

type SecretServices = Pick<AccountServices, 'secrets' | 'settings'>;

/** The caller. */
type Caller = Pick<ApiRequest, 'access'>;

/** What the caller does to which account. */
interface CheckedDefinition {
  readonly definition: AccountDefinition;
  /** For messages. */
  readonly verb: string;
}

/** Secrets whose roles are read at a time. */
const readsAtOnce = 16;

/**
 * Checks whether the caller may have an account use the secrets that its definition refers to. User secrets need one of the caller's roles
 * among theirs, as in Clouddriver. Other secrets name no users, and are refused unless the settings allow them. Administrators, and all
 * callers without Fiat, may.
 *
 * @param options.verb what the caller does to the account, for the message
 * @throws AccessDeniedError in Clouddriver's words; RefusedChangeError where the roles of a secret cannot be read
 */
export async function checkSecretRights(
  { access }: Caller,
  { secrets, settings }: SecretServices,
  { definition, verb }: CheckedDefinition,
): Promise<void> {
  if (isAllowedAll(access)) return;
  for (const { path, text, reference } of listReferredSecrets(definition, plugins)) {
    if (reference.isUserSecret !== true) {
      if (parseAccountsFlag(settings, rolelessSecretsPath)) continue;
      throw new AccessDeniedError(
        `Unauthorized to ${verb} account with the secret in ${path}, which says nothing of who may use it: refer to a user secret ` +
          `(secret://…), or have an administrator do it or set ${rolelessSecretsPath}`,
      );
    }
    const roles = await secrets.readRoles(reference).catch((error: unknown) => {
      throw new RefusedChangeError(`${path}: ${getErrorMessage(error)}`);
    });
    if (!access.rights.hasGroupOf(roles ?? [])) {
      throw new AccessDeniedError(`Unauthorized to ${verb} account with user secret ${text.trim()}`);
    }
  }
}

/**
 * Checks whether the caller may have an account send an identity of ours where its definition says. Where nothing limits that, only
 * administrators may, and without Fiat all callers that manage accounts.
 *
 * @throws AccessDeniedError; InvalidInputError where the settings allow it to nobody
 */
export async function checkIdentityRights(
  { access }: Caller,
  { settings }: Pick<SecretServices, 'settings'>,
  { definition, verb }: CheckedDefinition,
): Promise<void> {
  const check = await plugins
    .find(({ name }) => name === definition.type)
    ?.storedAccounts?.loadIdentityCheck?.();
  const option = check?.(definition.body, settings);
  if (option === undefined || isAllowedAll(access)) return;
  throw new AccessDeniedError(
    `Unauthorized to ${verb} account that has tokens of a broker sent to the host in ${option}: have an administrator do it, or name ` +
      `the host in ${brokerHostsPath}`,
  );
}

/**
 * The definitions whose user secrets the caller may use, in their order, up to a limit. Those whose secrets' roles cannot be read are left
 * out. The roles of a secret are read once.
 *
 * @param signal ends the reading: what was not read by then is left out
 */
export async function filterBySecrets<T extends AccountDefinition>(
  { access, signal }: Caller & Pick<ApiRequest, 'signal'>,
  { secrets, log }: Pick<AccountServices, 'secrets' | 'log'>,
  { definitions, limit }: { readonly definitions: readonly T[]; readonly limit: number },
): Promise<readonly T[]> {
  if (isAllowedAll(access)) return definitions.slice(0, limit);
  const known = new Map<string, Promise<boolean>>();
  const atOnce = createConcurrencyLimit(readsAtOnce);
  const mayUse = ({ text, reference }: ReferredSecret): Promise<boolean> => {
    const asked = known.get(text);
    if (asked !== undefined) return asked;
    const answer = atOnce(async () => {
      signal.throwIfAborted();
      return access.rights.hasGroupOf((await secrets.readRoles(reference)) ?? []);
    }).catch((error: unknown) => {
      log.warn('the roles of a user secret cannot be read', { cause: getErrorMessage(error) });
      return false;
    });
    known.set(text, answer);
    return answer;
  };
  const isUsable = async (definition: T): Promise<boolean> => {
    const referred = listUserSecrets(definition);
    return referred !== undefined && (await Promise.all(referred.map(mayUse))).every(Boolean);
  };
  const found: T[] = [];
  for (let start = 0; start < definitions.length && found.length < limit; start += limit) {
    const some = definitions.slice(start, start + limit);
    const usable = await Promise.all(some.map(isUsable));
    found.push(...some.filter((_, index) => usable[index]));
  }
  return found.slice(0, limit);
}

/** Undefined for a definition with an unreadable reference. */
function listUserSecrets(definition: AccountDefinition): readonly ReferredSecret[] | undefined {
  try {
    return listReferredSecrets(definition, plugins).filter(({ reference }) => reference.isUserSecret);
  } catch {
    return undefined;
  }
}

/** Administrators, and all callers where no roles are known, have any group; other callers none of an empty list. */
function isAllowedAll({ rights }: ApiRequest['access']): boolean {
  return rights.hasGroupOf([]);
}

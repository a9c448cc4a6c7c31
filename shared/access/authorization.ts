import type { Account, Authorization } from '#accounts/model/account.ts';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { asJsonObject, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { getSetting } from '#settings/spring-config.ts';
import type { Task } from '#tasks/task.ts';
import type { UserPermission } from './authorizer.ts';

/** Where the settings say what is checked. */
export const settingsPath = 'busdriver.authorization';

/** What a caller may do. */
export interface CallerRights {
  /** Whether the caller may use an account so. One that is not configured is nobody's, but for Fiat's administrators. */
  mayUseAccount(account: string, authorization: Authorization): boolean;
  /** Whether the caller may use an application so. Without Fiat everybody may. */
  mayUseApplication(application: string, authorization: Authorization): boolean;
  /** Whether the caller may manage accounts. Without Fiat the operator decides, for all callers. */
  readonly isManager: boolean;
  /** Whether the caller has one of these groups, or needs none: without Fiat, and as an administrator of it. Names without case. */
  hasGroupOf(groups: readonly string[]): boolean;
}

/** What rights follow from. */
export interface RightsOptions {
  /** Finds a configured account. */
  findAccount(name: string): Pick<Account, 'permissions'> | undefined;
  /** What Fiat says of the caller; undefined where Fiat is not asked. */
  readonly permission: UserPermission | undefined;
  /** The accounts that Gate says the caller may use; undefined where it does not say. Counts without Fiat alone. */
  readonly allowedAccounts: readonly string[] | undefined;
  /** Whether reads are checked: see {@link parseReadsChecked}. */
  readonly areReadsChecked: boolean;
  /** Whether callers may manage accounts where Fiat is not asked. Default false. */
  readonly mayManage?: boolean;
}

/**
 * The rights of a caller.
 *
 * With Fiat they are what Fiat says. Without it an account that is open to all may be used by all, and one that is restricted to
 * groups by those for whom Gate lists it in `X-SPINNAKER-ACCOUNTS`: Gate lists the accounts of whose WRITE groups the user has
 * one, and says nothing of READ, so that being listed is the right to everything.
 */
export function createRights(options: RightsOptions): CallerRights {
  const { permission } = options;
  return permission === undefined ? createListedRights(options) : createPermittedRights(permission, options);
}

function createListedRights({
  findAccount,
  allowedAccounts = [],
  areReadsChecked,
  mayManage = false,
}: RightsOptions): CallerRights {
  const listed = new Set(allowedAccounts.map((name) => name.toLowerCase()));
  return {
    mayUseAccount(name, authorization) {
      if (authorization === 'READ' && !areReadsChecked) return true;
      const account = findAccount(name);
      const isOpen = account !== undefined && account.permissions === undefined;
      return isOpen || listed.has(name.toLowerCase());
    },
    mayUseApplication: () => true,
    isManager: mayManage,
    hasGroupOf: () => true,
  };
}

function createPermittedRights(permission: UserPermission, { areReadsChecked }: RightsOptions): CallerRights {
  const { isAdmin, accounts, applications, roles, allowAccessToUnknownApplications } = permission;
  const isUnchecked = (authorization: Authorization): boolean =>
    isAdmin || (authorization === 'READ' && !areReadsChecked);
  return {
    mayUseAccount: (name, authorization) =>
      isUnchecked(authorization) || accounts.get(name.toLowerCase())?.has(authorization) === true,
    mayUseApplication(name, authorization) {
      if (isUnchecked(authorization)) return true;
      const granted = applications.get(name.toLowerCase());
      return granted === undefined ? allowAccessToUnknownApplications : granted.has(authorization);
    },
    isManager: isAdmin || permission.isAccountManager,
    hasGroupOf: (groups) => isAdmin || groups.some((group) => roles.has(group.toLowerCase())),
  };
}

/** The rights of somebody of whom nothing was asked: none. */
export const noRights: CallerRights = {
  mayUseAccount: () => false,
  mayUseApplication: () => false,
  isManager: false,
  hasGroupOf: () => false,
};

/** The refusal of an account, in Clouddriver's words. */
export function denyAccount(account: string, authorization: Authorization): AccessDeniedError {
  return new AccessDeniedError(
    `Access denied to account ${account} - required authorization: ${authorization}`,
  );
}

/** The refusal of an application, in Clouddriver's words. */
export function denyApplication(application: string, authorization: Authorization): AccessDeniedError {
  return new AccessDeniedError(
    `Access denied to application ${application} - required authorization: ${authorization}`,
  );
}

/** What of a task says whose it is. */
export type TaskOwners = Pick<Task, 'accounts' | 'isRestricted'>;

/**
 * The first account of a task that the caller may not use so; undefined when all may be. An account that is not configured any
 * more is as open as it was when the task was accepted, so that what runs can be followed to its end.
 */
export function findDeniedAccount(
  { accounts, isRestricted }: TaskOwners,
  rights: CallerRights,
  { authorization, isKnown }: { authorization: 'READ' | 'WRITE'; isKnown: (account: string) => boolean },
): string | undefined {
  return accounts.find(
    (account) => !rights.mayUseAccount(account, authorization) && (isRestricted || isKnown(account)),
  );
}

/** The application of an object, as views and live reads show it: `moniker.app`; empty where it has none. */
export function getApplicationOf(value: unknown): string {
  return asString(getPath(asJsonObject(value), 'moniker', 'app')) ?? '';
}

/**
 * Whether reads are checked at all: `busdriver.authorization.reads`, `on` unless it says `off`.
 *
 * @throws InvalidInputError for anything else: nobody opens reads by a slip.
 */
export function parseReadsChecked(settings: JsonObject): boolean {
  const section = getSetting(settings, settingsPath) ?? {};
  if (!isJsonObject(section))
    throw new InvalidInputError(`${settingsPath}: expected a map with reads: on or off`);
  const value = getSetting(settings, `${settingsPath}.reads`) ?? true;
  const text = typeof value === 'object' ? '' : String(value).toLowerCase();
  if (['on', 'true'].includes(text)) return true;
  if (['off', 'false'].includes(text)) return false;
  throw new InvalidInputError(`${settingsPath}.reads: expected on or off`);
}

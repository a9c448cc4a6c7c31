import type { Account, Authorization } from '#accounts/model/account.ts';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { asJsonObject, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { getSetting } from '#settings/spring-config.ts';
import type { Task } from '#tasks/task.ts';
import type { UserPermission } from './authorizer.ts';

/** The section of the settings that says what is checked. */
export const settingsPath = 'busdriver.authorization';

/** The setting of {@link parseApplicationCheck}. */
export const applicationCheckPath = 'busdriver.checkApplication';

/** What a caller may do. */
export interface CallerRights {
  /** Whether the caller has this authorization for an account. Only Fiat's administrators have any for one that is not configured. */
  mayUseAccount(account: string, authorization: Authorization): boolean;
  /** Whether the caller has this authorization for an application. Without Fiat all callers do. */
  mayUseApplication(application: string, authorization: Authorization): boolean;
  /** Whether the caller may manage accounts. Without Fiat the operator decides this, for all callers. */
  readonly isManager: boolean;
  /** Whether they may because they call from this machine, on which the store lies in a folder of one user, and there is no Fiat. */
  readonly isLocalManager: boolean;
  /** Whether the caller has one of these groups, or needs none: without Fiat, and as Fiat's administrator. Case is ignored. */
  hasGroupOf(groups: readonly string[]): boolean;
}

/** What rights follow from. */
export interface RightsOptions {
  /** Finds a configured account. */
  findAccount(name: string): Pick<Account, 'permissions'> | undefined;
  /** Fiat's permission of the caller; undefined where Fiat is not used. */
  readonly permission: UserPermission | undefined;
  /** The accounts that the caller may use according to Gate; undefined where it names none. Only used without Fiat. */
  readonly allowedAccounts: readonly string[] | undefined;
  /** Whether reads are checked: see {@link parseReadsChecked}. */
  readonly areReadsChecked: boolean;
  /** Whether the caller may manage accounts without Fiat: as all do, or as a program of this machine. Default: no. */
  readonly manager?: 'any' | 'local' | undefined;
}

/**
 * The rights of a caller.
 *
 * With Fiat they are Fiat's. Without it every caller may use an account that is open to all. One that is restricted to groups is for those
 * for whom Gate lists it in `X-SPINNAKER-ACCOUNTS`: Gate lists accounts of whose WRITE groups the user has one, and ignores READ, so that
 * being listed gives every right.
 */
export function createRights(options: RightsOptions): CallerRights {
  const { permission } = options;
  return permission === undefined ? createListedRights(options) : createPermittedRights(permission, options);
}

function createListedRights({
  findAccount,
  allowedAccounts = [],
  areReadsChecked,
  manager,
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
    isManager: manager !== undefined,
    isLocalManager: manager === 'local',
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
    isLocalManager: false,
    hasGroupOf: (groups) => isAdmin || groups.some((group) => roles.has(group.toLowerCase())),
  };
}

/** The rights of a caller of whom nothing was asked: none. */
export const noRights: CallerRights = {
  mayUseAccount: () => false,
  mayUseApplication: () => false,
  isManager: false,
  isLocalManager: false,
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

/**
 * What becomes of an operation without WRITE of its applications: nothing is said of it, it is reported and runs, or it is refused. Without
 * Fiat everybody has that right.
 */
export type ApplicationCheck = 'off' | 'report' | 'enforce';

/**
 * Reads `busdriver.checkApplication`, default `report`.
 *
 * @throws InvalidInputError for any other value: a slip must not open applications
 */
export function parseApplicationCheck(settings: JsonObject): ApplicationCheck {
  const value = getSetting(settings, applicationCheckPath) ?? 'report';
  // YAML reads `off` as false.
  const text = value === false ? 'off' : (asString(value)?.toLowerCase() ?? '');
  if (text === 'off' || text === 'report' || text === 'enforce') return text;
  throw new InvalidInputError(`${applicationCheckPath}: expected off, report or enforce`);
}

/** The members of a task that say who it belongs to. */
export type TaskOwners = Pick<Task, 'accounts' | 'isRestricted'>;

/**
 * The first account of a task for which the caller lacks this authorization; undefined when there is none. An account that is no longer
 * configured is as open as it was when the task was accepted, so that a running task can be followed to its end.
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
 * Whether reads are checked: `busdriver.authorization.reads`, default on.
 *
 * @throws InvalidInputError unless it is `on` or `off`: a slip must not open reads
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

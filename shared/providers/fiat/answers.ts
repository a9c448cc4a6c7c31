import type { UserPermission } from '#access/authorizer.ts';
import type { Authorization } from '#accounts/model/account.ts';
import { authorizations } from '#accounts/permissions.ts';
import { FailedOperationError } from '#core/errors.ts';
import {
  asJsonObject,
  asString,
  isJsonObject,
  isWithinDepth,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';

/** The most accounts, applications and roles in total in one answer of Fiat. */
export const namesMax = 100_000;

/** The most levels of nesting in an answer of Fiat; a real one has 5. */
export const levelsMax = 20;

/** The permission of an unknown user, who may do nothing. */
export function createEmptyPermission(user: string): UserPermission {
  return {
    user,
    isAdmin: false,
    isAccountManager: false,
    roles: new Set(),
    accounts: new Map(),
    applications: new Map(),
    allowAccessToUnknownApplications: false,
  };
}

/**
 * A user's permission from Fiat's `UserPermission.View`:
 *
 * ``` {"name", "accounts": [{"name", "authorizations": ["READ", …]}], "applications": [likewise], "roles": [{"name", "source"}],
 * "serviceAccounts", "buildServices", "admin", "accountManager", "legacyFallback", "allowAccessToUnknownApplications"}
 * ```
 *
 * Fiat ignores the case of names: those that differ only in case count as one, with the authorizations of all. Unknown authorizations grant
 * nothing. Fiat itself never sends `legacyFallback` (its clients make such permissions while it is unavailable), so it grants nothing
 * either.
 *
 * @param user the requested user.
 * @throws FailedOperationError, with the reason and nothing of the answer, if the answer is of another form: permissions are never guessed.
 */
export function parsePermission(answer: JsonValue, user: string): UserPermission {
  if (!isJsonObject(answer) || !isWithinDepth(answer, levelsMax)) throw refuse('is no permission of a user');
  const accounts = listEntries(answer, 'accounts');
  const applications = listEntries(answer, 'applications');
  const roles = listEntries(answer, 'roles');
  if (accounts.length + applications.length + roles.length > namesMax)
    throw refuse(`names more than ${namesMax} accounts, applications and roles`);
  return {
    user,
    isAdmin: readFlag(answer, 'admin'),
    isAccountManager: readFlag(answer, 'accountManager'),
    roles: new Set(roles.map(({ name }) => name)),
    accounts: toGrants(accounts, 'accounts'),
    applications: toGrants(applications, 'applications'),
    allowAccessToUnknownApplications: readFlag(answer, 'allowAccessToUnknownApplications'),
  };
}

/** Bytes of a name in memory, besides its characters. */
const nameBytes = 80;

/** Approximate bytes of a permission in memory. */
export function estimateBytes({ accounts, applications, roles }: UserPermission): number {
  let bytes = 0;
  for (const names of [accounts.keys(), applications.keys(), roles.keys()])
    for (const name of names) bytes += nameBytes + name.length;
  return bytes;
}

interface Entry {
  /** In lower case. */
  readonly name: string;
  readonly value: JsonObject;
}

function listEntries(answer: JsonObject, member: string): readonly Entry[] {
  const list = answer[member] ?? [];
  if (!Array.isArray(list)) throw refuse(`has ${member} that are no list`);
  return list.map((item) => {
    const value = asJsonObject(item);
    const name = asString(value?.name);
    if (value === undefined || name === undefined) throw refuse(`has an entry without a name in ${member}`);
    return { name: name.toLowerCase(), value };
  });
}

function toGrants(
  entries: readonly Entry[],
  member: string,
): ReadonlyMap<string, ReadonlySet<Authorization>> {
  const grants = new Map<string, ReadonlySet<Authorization>>();
  for (const { name, value } of entries) {
    const former = grants.get(name);
    grants.set(name, toShared([...(former ?? []), ...readAuthorizations(value, member)]));
  }
  return grants;
}

function readAuthorizations({ authorizations: list }: JsonObject, member: string): readonly Authorization[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw refuse(`has authorizations that are no list in ${member}`);
  return authorizations.filter((known) => list.includes(known));
}

/** Equal sets are shared: users have thousands of applications, and there are 16 combinations. */
const sharedSets = new Map<string, ReadonlySet<Authorization>>();

function toShared(granted: readonly Authorization[]): ReadonlySet<Authorization> {
  const ordered = authorizations.filter((known) => granted.includes(known));
  const key = ordered.join();
  const shared = sharedSets.get(key) ?? new Set(ordered);
  sharedSets.set(key, shared);
  return shared;
}

/** A flag; off if absent, as in answers of old versions. */
function readFlag(answer: JsonObject, member: string): boolean {
  const value = answer[member] ?? false;
  if (typeof value !== 'boolean') throw refuse(`has ${member} that is neither true nor false`);
  return value;
}

function refuse(what: string): FailedOperationError {
  return new FailedOperationError(`its answer ${what}`);
}

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

/** Accounts, applications and roles that one answer of Fiat may name together. */
export const namesMax = 100_000;

/** Levels of nesting in an answer of Fiat; a real one has 5. */
export const levelsMax = 20;

/** The permission of a user whom nobody knows: he may do nothing. */
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
 * A user's permission out of Fiat's `UserPermission.View`:
 *
 * ```
 * {"name", "accounts": [{"name", "authorizations": ["READ", …]}], "applications": [likewise], "roles": [{"name", "source"}],
 *  "serviceAccounts", "buildServices", "admin", "accountManager", "legacyFallback", "allowAccessToUnknownApplications"}
 * ```
 *
 * Fiat compares names without case: those that differ in nothing else count as one, with the authorizations of all. Authorizations
 * that this version does not know give nothing. `legacyFallback` is nothing that Fiat itself says (its clients make such permissions
 * while it is away), so it gives nothing either.
 *
 * @param user whom was asked for.
 * @throws FailedOperationError, with the reason and nothing of the answer, when it is something else: rights are never guessed.
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

/** Bytes that a name takes in memory besides its characters. */
const nameBytes = 80;

/** Bytes that a permission takes in memory, about. */
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

/** One set for all that hold the same: users have thousands of applications, and there are 16 combinations. */
const sharedSets = new Map<string, ReadonlySet<Authorization>>();

function toShared(granted: readonly Authorization[]): ReadonlySet<Authorization> {
  const ordered = authorizations.filter((known) => granted.includes(known));
  const key = ordered.join();
  const shared = sharedSets.get(key) ?? new Set(ordered);
  sharedSets.set(key, shared);
  return shared;
}

/** A flag, which is absent in answers of old versions: then it is off. */
function readFlag(answer: JsonObject, member: string): boolean {
  const value = answer[member] ?? false;
  if (typeof value !== 'boolean') throw refuse(`has ${member} that is neither true nor false`);
  return value;
}

function refuse(what: string): FailedOperationError {
  return new FailedOperationError(`its answer ${what}`);
}

import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { getEditDistance } from '#settings/nearest-key.ts';
import { bindKeys, joinPath, toCanonicalKey } from '#settings/spring-config.ts';
import type { Account, Authorization, Permissions } from './model/account.ts';

/** Every authorization, in the order in which they are shown. */
export const authorizations: readonly Authorization[] = ['READ', 'WRITE', 'EXECUTE', 'CREATE'];

/** Who may use an account. */
export type AccountAccess = Pick<Account, 'permissions' | 'requiredGroupMembership'>;

/** The group of an authorization that no group has: Fiat and Gate treat an empty list as open to all. */
export const nobody = '(nobody)';

/** The keys of an account that say who may use it. */
export const accessKeys = ['permissions', 'requiredGroupMembership'] as const;

/**
 * Reads who may use an account. `permissions` maps authorizations, in any case, to groups, which are trimmed and put in lower case. The
 * legacy list `requiredGroupMembership` means READ and WRITE for its groups, as in Fiat. Where both are given both hold: each authorization
 * of `permissions` keeps only the groups that are also in the legacy list, and is {@link nobody}'s where none is. An account with neither
 * is open to all.
 *
 * A mistake must never open an account: an unknown authorization, a misspelt `permissions`, and only blank groups (from a variable that was
 * not set) are refused.
 *
 * @param path the account's place in the configuration, for messages.
 * @throws InvalidInputError with every violation.
 */
export function parseAccess(input: JsonObject, path = ''): AccountAccess {
  const account = bindKeys(input, accessKeys);
  const errors: string[] = [];
  const reader = { errors, path };
  for (const key of findMisspeltKeys(account)) {
    errors.push(
      `${joinPath(path, key)}: unknown, and too much like one of ${accessKeys.join(', ')} to be ignored`,
    );
  }
  const permissions = readPermissions(account.permissions, reader);
  const groups = readGroups(account.requiredGroupMembership, {
    ...reader,
    path: joinPath(path, accessKeys[1]),
  });
  if (errors.length > 0) throw new InvalidInputError(errors);
  if (groups.length === 0) return { ...(permissions && { permissions }), requiredGroupMembership: [] };
  if (permissions === undefined)
    return { permissions: toPermissions(groups), requiredGroupMembership: groups };
  return { permissions: intersect(permissions, groups), requiredGroupMembership: [] };
}

/** What the legacy list means: its groups may read and write. */
function toPermissions(groups: readonly string[]): Permissions {
  const names = [...new Set(groups.map((name) => name.toLowerCase()))];
  return { READ: names, WRITE: names };
}

/** The permissions of groups that are also in the legacy list. */
function intersect(permissions: Permissions, groups: readonly string[]): Permissions {
  const listed = new Set(groups.map((name) => name.toLowerCase()));
  const kept = Object.entries(permissions).map(([authorization, names]) => {
    const both = names.filter((name) => listed.has(name));
    return [authorization, both.length > 0 ? both : [nobody]];
  });
  return Object.fromEntries(kept);
}

/** Collects violations, with the path that is being read. */
interface Reader {
  readonly errors: string[];
  readonly path: string;
}

/** The permissions that name a group; undefined when none does. */
function readPermissions(value: JsonValue | undefined, { errors, path }: Reader): Permissions | undefined {
  const place = joinPath(path, 'permissions');
  if (value === undefined || value === null || value === '') return undefined;
  if (!isJsonObject(value)) {
    errors.push(`${place}: expected a map from ${authorizations.join(', ')} to lists of groups`);
    return undefined;
  }
  const granted = new Map<Authorization, string[]>();
  for (const [key, groups] of Object.entries(value)) {
    const authorization = authorizations.find((known) => known === key.toUpperCase());
    if (authorization === undefined) {
      errors.push(`${joinPath(place, key)}: expected one of ${authorizations.join(', ')}`);
      continue;
    }
    const names = readGroups(groups, { errors, path: joinPath(place, key) });
    granted.set(authorization, [
      ...(granted.get(authorization) ?? []),
      ...names.map((name) => name.toLowerCase()),
    ]);
  }
  const restricted = authorizations.filter((authorization) => granted.get(authorization)?.length);
  if (restricted.length === 0) return undefined;
  return Object.fromEntries(
    restricted.map((authorization) => [authorization, [...new Set(granted.get(authorization))]]),
  );
}

/** Group names, trimmed, without blanks; a comma-separated string is a list, as in Spring. */
function readGroups(value: JsonValue | undefined, { errors, path }: Reader): readonly string[] {
  if (value === undefined || value === null) return [];
  const items = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(items) || items.some((item) => typeof item === 'object' && item !== null)) {
    errors.push(`${path}: expected a list of group names`);
    return [];
  }
  const names = items.map((item) => String(item ?? '').trim()).filter((name) => name !== '');
  if (items.length > 0 && names.length === 0)
    errors.push(`${path}: expected group names, got only blank ones`);
  return names;
}

/** Keys of an account that were probably meant to be one of `accessKeys`: `parseAccess` refuses them. */
export function findMisspeltKeys(account: JsonObject): readonly string[] {
  return Object.keys(account).filter((key) =>
    accessKeys.some((wanted) => {
      const distance = getEditDistance(toCanonicalKey(key), toCanonicalKey(wanted));
      return distance <= 3 && key !== wanted;
    }),
  );
}

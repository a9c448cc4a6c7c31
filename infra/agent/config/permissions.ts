import type { Permissions } from '#accounts/model/account.ts';
import { parseAccess } from '#accounts/permissions.ts';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/**
 * Permissions of an account, as the file of Armory's agent has them: a map from READ and WRITE to roles, or a list of such maps. Blanks around
 * roles are taken away. An account is Busdriver's, and so is who may use it: the permissions here are checked, for whoever moves them there.
 *
 * @param at the path of the permissions
 * @throws InvalidInputError naming what is no map, no authorization or no role. A list of nothing but blank roles is refused too: it would
 *   open the account.
 */
export function parseFilePermissions(value: JsonValue | undefined, at: string): Permissions | undefined {
  if (value === undefined || value === null) return undefined;
  const maps = Array.isArray(value) ? value : [value];
  const merged = new Map<string, JsonValue[]>();
  for (const map of maps) {
    if (!isJsonObject(map)) {
      throw new InvalidInputError(
        `${at}: expected a map from READ and WRITE to lists of roles, or a list of such maps`,
      );
    }
    for (const [key, roles] of Object.entries(map)) {
      if (roles === null) continue;
      merged.set(key, [...(merged.get(key) ?? []), ...(Array.isArray(roles) ? roles : [roles])]);
    }
  }
  const permissions: JsonObject = Object.fromEntries(merged);
  const path = at.endsWith('.permissions') ? at.slice(0, -'.permissions'.length) : at;
  return parseAccess({ permissions }, path).permissions;
}

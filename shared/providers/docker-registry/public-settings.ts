import type { Account } from '#accounts/model/account.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { OpenedAccounts } from '#provider-kit/provider.ts';
import { findEntryName, listEntries } from './account.ts';
import { type AccountFields, parseAccountFields, publicAccountOptions } from './account-fields.ts';

/** The accepted accounts with their public options, as they were parsed, which leaves out unknown members. */
export function toPublicSettings(
  settings: JsonObject,
  { accounts }: Pick<OpenedAccounts, 'accounts'>,
  storedAccounts: readonly JsonObject[] = [],
): JsonObject {
  const left = new Map(accounts.map((account) => [account.name, account]));
  // If the list cannot be read, no account was accepted.
  const entries = left.size === 0 ? [] : listEntries({ settings, accounts: { stored: storedAccounts } });
  const shown = entries.flatMap(({ entry }): JsonObject[] => {
    // The first of a name is the one that counts, as when it was accepted.
    const name = findEntryName(entry);
    const account = left.get(name);
    left.delete(name);
    return account === undefined ? [] : [toPublicAccount(entry, account)];
  });
  return { dockerRegistry: { accounts: shown } };
}

function toPublicAccount(
  entry: JsonValue,
  { name, permissions, requiredGroupMembership }: Account,
): JsonObject {
  const fields = Object.entries(parseAccountFields(entry, '')).filter(
    ([option, value]) => publicAccountOptions[option as keyof AccountFields] && value !== undefined,
  );
  // If only the legacy list of groups was given, permissions are derived from it again.
  const isLegacy = requiredGroupMembership.length > 0;
  const access = { ...(permissions && !isLegacy && { permissions }), requiredGroupMembership };
  return JSON.parse(JSON.stringify({ ...Object.fromEntries(fields), name, ...access })) as JsonObject;
}

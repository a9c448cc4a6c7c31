import type { AccountWarning } from '#accounts/model/account.ts';
import type { Provider } from '#provider-kit/provider.ts';

/** Accounts whose permissions are told to be of no effect, one by one; of further ones only that there are some. */
export const idlePermissionsToldMax = 20;

/** Characters of an account's name that are told: no name of an account that is made by the API has more. */
const nameLengthMax = 253;

/** What groups of an account mean where nobody tells what users may do. See docs/authorization.md. */
const meaning =
  'permissions have no effect without Fiat, but that callers need the account in X-SPINNAKER-ACCOUNTS, where Gate lists it ' +
  'for its WRITE groups';

/**
 * What to tell of accounts that name groups where Fiat is off: a warning for each of the first, and one for all others. Nothing where it
 * is on.
 */
export function listIdlePermissions(
  providers: readonly Pick<Provider, 'accounts' | 'authorizer'>[],
): readonly AccountWarning[] {
  if (providers.some(({ authorizer }) => authorizer !== undefined)) return [];
  const restricted = providers
    .flatMap(({ accounts }) => accounts)
    .filter(({ permissions }) => permissions !== undefined);
  const told = restricted
    .slice(0, idlePermissionsToldMax)
    .map(({ name }) => `account "${name.slice(0, nameLengthMax)}": ${meaning}`);
  // Without their number: it would be told anew with each account that an API makes.
  if (restricted.length > told.length) told.push(`further accounts: ${meaning}`);
  return told.map((reason) => ({ message: 'permissions without Fiat', reason }));
}

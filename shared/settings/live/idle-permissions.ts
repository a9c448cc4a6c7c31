import type { AccountWarning } from '#accounts/model/account.ts';
import type { Provider } from '#provider-kit/provider.ts';

/** Accounts whose permissions are reported as without effect, one by one; of further ones only that there are some. */
export const idlePermissionsToldMax = 20;

/** Characters of an account's name in messages: no account created by the API has a longer name. */
const nameLengthMax = 253;

/** What groups of an account mean without a source of users' rights. See docs/authorization.md. */
const meaning =
  'permissions have no effect without Fiat, but that callers need the account in X-SPINNAKER-ACCOUNTS, where Gate lists it ' +
  'for its WRITE groups';

/** Warnings about accounts that name groups while Fiat is off: one for each of the first, and one for all others. None while it is on. */
export function listIdlePermissions(
  providers: readonly Pick<Provider, 'clouds' | 'authorizer'>[],
): readonly AccountWarning[] {
  if (providers.some(({ authorizer }) => authorizer !== undefined)) return [];
  const restricted = providers
    .flatMap(({ clouds = [] }) => clouds.flatMap(({ accounts }) => accounts))
    .filter(({ permissions }) => permissions !== undefined);
  const told = restricted
    .slice(0, idlePermissionsToldMax)
    .map(({ name }) => `account "${name.slice(0, nameLengthMax)}": ${meaning}`);
  // Without their number: it would be logged again with each account that an API creates.
  if (restricted.length > told.length) told.push(`further accounts: ${meaning}`);
  return told.map((reason) => ({ message: 'permissions without Fiat', reason }));
}

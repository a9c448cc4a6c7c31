import { deleteProvider, providerHandler } from '#accounts/http/account-providers.ts';
import { openAccounts } from '#accounts/management/accounts.ts';

/** DELETE /v1/kubernetes/providers/{account}: deletes an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, deleteProvider);

import { deleteProvider, providerHandler } from '../../../shared/runtime/http/account-providers.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** DELETE /v1/kubernetes/providers/{account}: deletes an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, deleteProvider);

import { getProvider, providerHandler } from '../../../shared/runtime/http/account-providers.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** GET /v1/kubernetes/providers/{account}: one account in go-clouddriver's form. */
export const handler = providerHandler(openAccounts, getProvider);

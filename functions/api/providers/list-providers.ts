import { listProviders, providerHandler } from '#accounts/http/account-providers.ts';
import { openAccounts } from '#accounts/management/accounts.ts';

/** GET /v1/kubernetes/providers: accounts in go-clouddriver's form. */
export const handler = providerHandler(openAccounts, listProviders);

import { createProvider, providerHandler } from '#accounts/http/account-providers.ts';
import { openAccounts } from '#accounts/management/accounts.ts';

/** POST /v1/kubernetes/providers: creates an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, createProvider);

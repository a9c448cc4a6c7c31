import { createProvider, providerHandler } from '../../../shared/runtime/http/account-providers.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** POST /v1/kubernetes/providers: creates an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, createProvider);

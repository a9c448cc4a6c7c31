import { providerHandler, saveProvider } from '#accounts/http/account-providers.ts';
import { openAccounts } from '#accounts/management/accounts.ts';

/** PUT /v1/kubernetes/providers: creates or replaces an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, saveProvider);

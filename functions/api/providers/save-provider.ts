import { providerHandler, saveProvider } from '../../../shared/runtime/http/account-providers.ts';
import { openAccounts } from '../../../shared/runtime/services/accounts.ts';

/** PUT /v1/kubernetes/providers: creates or replaces an account, as go-clouddriver does. */
export const handler = providerHandler(openAccounts, saveProvider);

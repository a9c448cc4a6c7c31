import { providerHandler } from '#accounts/http/account-providers.ts';
import { loadProviderResources } from '#accounts/http/account-resources.ts';
import { openReads } from '#views/services/views.ts';

/** PUT /v1/kubernetes/providers/{account}/resources: lists an account anew, and answers what Spinnaker deployed to it. */
export const handler = providerHandler(openReads, loadProviderResources);

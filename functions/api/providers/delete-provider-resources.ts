import { providerHandler } from '#accounts/http/account-providers.ts';
import { deleteProviderResources } from '#accounts/http/account-resources.ts';
import { openReads } from '#views/services/views.ts';

/** DELETE /v1/kubernetes/providers/{account}/resources: has an account listed anew. */
export const handler = providerHandler(openReads, deleteProviderResources);

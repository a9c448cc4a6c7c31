import { providerHandler } from '../../../shared/runtime/http/account-providers.ts';
import { deleteProviderResources } from '../../../shared/runtime/http/account-resources.ts';
import { openReads } from '../../../shared/runtime/services/views.ts';

/** DELETE /v1/kubernetes/providers/{account}/resources: has an account listed anew. */
export const handler = providerHandler(openReads, deleteProviderResources);

import { providerHandler } from '../../../shared/runtime/http/account-providers.ts';
import { loadProviderResources } from '../../../shared/runtime/http/account-resources.ts';
import { openReads } from '../../../shared/runtime/services/views.ts';

/** PUT /v1/kubernetes/providers/{account}/resources: lists an account anew, and answers what Spinnaker deployed to it. */
export const handler = providerHandler(openReads, loadProviderResources);

import type { StartPage } from '../../../shared/contract/answers/features.ts';
import { apiVersion } from '../../../shared/core/api-version.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openBase } from '../../../shared/runtime/services/base.ts';

/** GET /: what answers here, and where to look further. */
export const handler = openHandler(openBase, async function getStartPage() {
  return ok<StartPage>({
    name: 'Busdriver',
    version: apiVersion,
    description: "Spinnaker's Clouddriver for Kubernetes: point services.clouddriver.baseUrl here",
    links: {
      applications: '/applications',
      agents: '/cache/introspection',
      credentials: '/credentials?expand=true',
      health: '/health',
      openApi: '/v3/api-docs',
    },
  });
});

import type { StartPage } from '#contract/answers/features.ts';
import { apiVersion } from '#core/api-version.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

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

import { apiVersion } from '../../../shared/core/api-version.ts';
import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /: what answers here, and where to look further. */
export const handler = openHandler(openBaseContext, async function getStartPage() {
  return ok({
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

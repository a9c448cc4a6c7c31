import type { StartPage } from '#contract/answers/features.ts';
import { apiVersion } from '#core/api-version.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /: what answers here, and where to look further. A browser is sent to the page for people. */
export const handler = openHandler(openBase, async function getStartPage(request) {
  if (request.findHeader('accept')?.includes('text/html'))
    return { status: 303, headers: { Location: 'status', Vary: 'Accept' }, body: '{}' };
  return ok<StartPage>({
    name: 'Busdriver',
    version: apiVersion,
    description: "Spinnaker's Clouddriver for Kubernetes: point services.clouddriver.baseUrl here",
    links: {
      applications: '/applications',
      agents: '/cache/introspection',
      credentials: '/credentials?expand=true',
      health: '/health',
      status: '/status',
      tasks: '/tasks',
      openApi: '/v3/api-docs',
    },
  });
});

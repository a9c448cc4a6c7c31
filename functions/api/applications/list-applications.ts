import { UnavailableError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import { toApplicationViews } from '#views/application-views.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /applications: the applications that the accounts run, with their clusters; Fiat and Gate poll it with `restricted=false`, and
 * for everybody: then all applications and accounts are named, but clusters of accounts that the caller may not read are not.
 */
export const handler = viewHandler(
  async function getApplications(request, { views }) {
    // It changes nothing here, but a caller who means something else by it is told.
    request.getFlag('expand', false);
    const isRestricted = isRestrictedTo(request);
    const { value, accounts } = await views.listApplications();
    if (isRestricted) {
      const rights = await request.access.loadRights();
      const shown = value.filter(({ application }) => rights.mayUseApplication(application, 'READ'));
      return { value: toApplicationViews(shown), accounts };
    }
    const mayShow = await request.access.openAccountFilter().catch(showNone);
    const shown = value.map((each) => (mayShow(each.account) ? each : { ...each, clusters: [] }));
    return { value: toApplicationViews(shown), accounts };
  },
  { isUnrestricted: (request) => !isRestrictedTo(request) },
);

/** While Fiat cannot answer, names alone are shown: Fiat itself asks for them while it starts. @throws any other error */
function showNone(error: unknown): () => boolean {
  if (error instanceof UnavailableError) return () => false;
  throw error;
}

function isRestrictedTo(request: ApiRequest): boolean {
  return request.getFlag('restricted', true);
}

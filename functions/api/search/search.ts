import { viewHandler } from '#views/http/view-handler.ts';
import { search } from '#views/search.ts';
import { parseSearchRequest } from '#views/search-request.ts';

/** GET /search: what has a text in its name, in the cache and in Front50, and may be read by the caller. */
export const handler = viewHandler(
  async function searchAll(request, { views, providers }) {
    const { rights } = request.access;
    return search(parseSearchRequest(request), {
      views,
      catalog: providers.findCatalog(),
      mayRead: (application) => rights.mayUseApplication(application, 'READ'),
    });
  },
  { scope: () => 'everything' },
);

import { search } from '../../../shared/core/search.ts';
import { parseSearchRequest } from '../../../shared/core/search-request.ts';
import { viewHandler } from '../../../shared/runtime/view-handler.ts';

/** GET /search: what has a text in its name, in the cache and in Front50. */
export const handler = viewHandler(
  async function searchAll(request, { views, providers }) {
    return search(parseSearchRequest(request), { views, catalog: providers.findCatalog() });
  },
  { scope: () => 'everything' },
);

import { imageViewOptions, openImages } from '#views/http/image-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';
import { parseImageQuery } from '#views/images.ts';

/** GET /{cloudProvider}/charts/find: versions of charts in registries, as Igor and Deck's pickers look for them; none of other providers. */
export const handler = viewHandler(async function findCharts(request, services) {
  const query = parseImageQuery(request);
  const charts = await openImages(request, services, 'charts');
  return (await charts?.findImages(query)) ?? { value: [], accounts: [] };
}, imageViewOptions);

import { imageViewOptions, openImages } from '#views/http/image-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';
import { parseImageQuery } from '#views/images.ts';

/** GET /{cloudProvider}/images/find: tags of repositories, as Igor and Deck's pickers look for them; none of other providers. */
export const handler = viewHandler(async function findImages(request, services) {
  const query = parseImageQuery(request);
  const images = await openImages(request, services);
  return (await images?.findImages(query)) ?? { value: [], accounts: [] };
}, imageViewOptions);

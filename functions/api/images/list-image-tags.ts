import { imageViewOptions, openImages } from '#views/http/image-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /{cloudProvider}/images/tags: the tags of one repository; none of what is not there, and of other providers. */
export const handler = viewHandler(async function listImageTags(request, services) {
  const images = await openImages(request, services);
  const account = request.findQuery('account') ?? '';
  const repository = request.findQuery('repository') ?? '';
  return (await images?.listImageTags(account, repository)) ?? { value: [], accounts: [] };
}, imageViewOptions);

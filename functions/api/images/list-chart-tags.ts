import { imageViewOptions, openImages } from '#views/http/image-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /{cloudProvider}/charts/tags: the tags of one repository of charts; none of what is not there, and of other providers. */
export const handler = viewHandler(async function listChartTags(request, services) {
  const charts = await openImages(request, services, 'charts');
  const account = request.findQuery('account') ?? '';
  const repository = request.findQuery('repository') ?? '';
  return (await charts?.listImageTags(account, repository)) ?? { value: [], accounts: [] };
}, imageViewOptions);

import type { ApiRequest } from '#http/api-handler.ts';
import type { ImageReader, RegistryContent } from '../images.ts';
import type { ViewServices } from '../services/views.ts';
import type { ViewHandlerOptions } from './view-handler.ts';

/** How images are read: as in Clouddriver anonymously all accounts', since Igor polls without a user to start everybody's pipelines. */
export const imageViewOptions: ViewHandlerOptions = {
  scope(request) {
    const account = request.findQuery('account');
    return account ? { accounts: [account] } : 'images';
  },
  isUnrestricted: ({ access }) => access.identity.user === undefined,
};

/** The images, or the charts, of the path's provider; undefined where it has none. */
export async function openImages(
  request: ApiRequest,
  { providers, cache, mayRead }: Pick<ViewServices, 'providers' | 'cache' | 'mayRead'>,
  content: RegistryContent = 'images',
): Promise<ImageReader | undefined> {
  const wanted = request.getParameter('cloudProvider').toLowerCase();
  const owner = providers.clouds.find(({ images }) =>
    images?.cloudProviders.some((name) => name.toLowerCase() === wanted),
  );
  return owner?.images?.open({ cache, mayRead, content });
}

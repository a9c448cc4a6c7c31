import { NotFoundError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import type { ViewServices } from '../services/views.ts';
import { getFound } from '../view-set.ts';
import type { ClusterKey, ClusterPage, Viewed } from '../views.ts';

/** The cluster of a path. */
export function parseClusterKey(request: ApiRequest): ClusterKey {
  return {
    application: request.getParameter('application'),
    account: request.getParameter('account'),
    cluster: request.getParameter('cluster'),
  };
}

/**
 * The cluster of a path that names its provider.
 *
 * @param options.expand whether to include its server groups and load balancers.
 * @throws NotFoundError where the provider has no such cluster, and for an unknown provider.
 */
export async function getCluster(
  request: ApiRequest,
  { views }: Pick<ViewServices, 'views'>,
  options: { readonly expand: boolean },
): Promise<Viewed<ClusterPage>> {
  const key = parseClusterKey(request);
  const { application, account, cluster } = key;
  const type = request.getParameter('cloudProvider');
  const ofProvider = views.selectProvider(type);
  if (ofProvider.providers.length === 0) {
    throw new NotFoundError(
      `No provider of type ${type} has clusters (application: ${application}, account: ${account}, cluster: ${cluster})`,
    );
  }
  return getFound(
    await ofProvider.findCluster(key, options),
    `No clusters found (application: ${application}, account: ${account}, type: ${type})`,
  );
}

import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import type { ViewServices } from '../services/views.ts';
import { getFound } from '../view-set.ts';
import type { TargetServerGroup, Viewed } from '../views.ts';
import { parseClusterKey } from './cluster-request.ts';

/**
 * The server group of a path that names it by its place in the cluster, such as the newest.
 *
 * @param options.validateOldest whether the oldest must not be the only one.
 * @throws NotFoundError where there is none, and for an unknown target.
 */
export async function getTargetServerGroup(
  request: ApiRequest,
  { views }: Pick<ViewServices, 'views'>,
  { validateOldest }: { readonly validateOldest: boolean },
): Promise<Viewed<TargetServerGroup>> {
  const key = parseClusterKey(request);
  const type = request.getParameter('cloudProvider');
  const location = request.getParameter('scope');
  const target = request.getParameter('target');
  const onlyEnabled = request.getFlag('onlyEnabled', false);
  const wanted = { ...key, location, target, onlyEnabled, validateOldest };
  const found = await views.selectProvider(type).findTargetServerGroup(wanted).catch(toNotFound);
  const { account, cluster } = key;
  return getFound(
    found,
    `No server group is the target (target: ${target}, account: ${account}, location: ${location}, cluster: ${cluster}, type: ${type})`,
  );
}

/** Clouddriver answers an unknown target like a missing one. */
function toNotFound(error: unknown): never {
  throw error instanceof InvalidInputError ? new NotFoundError(error.message, { cause: error }) : error;
}

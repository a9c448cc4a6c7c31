import { parseClusterKey } from '#views/http/cluster-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';
import { getFound } from '#views/view-set.ts';

/** GET /applications/{application}/clusters/{account}/{cluster}: the clusters of a name; an account has one of them. */
export const handler = viewHandler(async function listNamedClusters(request, { views }) {
  const key = parseClusterKey(request);
  const { application, account, cluster } = key;
  const { value, accounts } = getFound(
    await views.findCluster(key, { expand: request.getFlag('expand', true) }),
    `Cluster not found (application: ${application}, account: ${account}, name: ${cluster})`,
  );
  return { value: [value], accounts };
});

import { expect, test } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { findLive } from '../../live.ts';
import { containers, openV1, runV1 } from './v1-run.ts';

const size = 10;
/** How many of ten pods are behind the Service after each operation; those that were switched before count. */
const steps = [
  ['disableServerGroup', 0, 10],
  ['disableServerGroup', 30, 7],
  ['disableServerGroup', 30, 7],
  ['disableServerGroup', 50, 5],
  ['disableServerGroup', 100, 0],
  ['enableServerGroup', 0, 0],
  ['enableServerGroup', 30, 3],
  ['enableServerGroup', 50, 5],
  ['enableServerGroup', 100, 10],
] as const;

describeWithCluster('the endpoints of a load balancer', (cluster) => {
  test.each(['ReplicationController', 'ReplicaSet'])(
    'follow enable and disable by per cent: a %s',
    async (kind) => {
      await using ns = await createNamespace();
      await using provider = openV1(cluster.kubeconfig, { namespaces: [ns.name] });
      const common = { namespace: ns.name };
      const ports = [{ name: 'http', protocol: 'TCP', port: 80 }];
      await runV1(provider, 'upsertLoadBalancer', { ...common, loadBalancerName: 'kub-front', ports });
      const group = { application: 'kub', kind, targetSize: size, containers, loadBalancers: ['kub-front'] };
      await runV1(provider, 'createServerGroup', { ...common, ...group });
      const expectBackends = async (count: number, message: string): Promise<void> => {
        const options = { message, timeout: 60_000 };
        await expect.poll(() => listSliced(ns.name), options).toHaveLength(count);
        const sliced = await listSliced(ns.name);
        await expect.poll(() => listAddressed(ns.name), options).toEqual(sliced);
      };
      await expectBackends(size, 'at first');
      for (const [operation, desiredPercentage, count] of steps) {
        await runV1(provider, operation, { ...common, serverGroupName: 'kub-v000', desiredPercentage });
        await expectBackends(count, `${operation} ${desiredPercentage}`);
      }
    },
    300_000,
  );
});

/** Names of the pods that the Service sends requests to, as its EndpointSlices tell. */
async function listSliced(namespace: string): Promise<string[]> {
  const slices = await requestApi('GET', `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`);
  return asJsonArray(getPath(slices, 'items'))
    .flatMap((slice) => asJsonArray(getPath(slice, 'endpoints')))
    .filter((endpoint) => getPath(endpoint, 'conditions', 'ready') === true)
    .map((endpoint) => String(getPath(endpoint, 'targetRef', 'name')))
    .toSorted();
}

/** The same, as its Endpoints tell, which older proxies go by. */
async function listAddressed(namespace: string): Promise<string[]> {
  const endpoints: JsonObject | undefined = await findLive(namespace, 'endpoints/kub-front');
  return asJsonArray(endpoints?.['subsets'])
    .flatMap((subset) => asJsonArray(getPath(subset, 'addresses')))
    .map((address) => String(getPath(address, 'targetRef', 'name')))
    .toSorted();
}

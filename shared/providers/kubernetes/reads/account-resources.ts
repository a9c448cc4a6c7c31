import { compareText } from '#core/text-order.ts';
import type { AccountResource } from '#views/views.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { type CacheReading, listObjects, readAllFacts } from './cache-reading.ts';

/** Go-clouddriver's list: kinds that Deck shows, by Spinnaker's name, with Kubernetes' name of the resource in paths. */
const infrastructureKinds: { readonly [kind: string]: { readonly kind: string; readonly resource: string } } =
  {
    daemonSet: { kind: 'DaemonSet', resource: 'daemonsets' },
    deployment: { kind: 'Deployment', resource: 'deployments' },
    ingress: { kind: 'Ingress', resource: 'ingresses' },
    replicaSet: { kind: 'ReplicaSet', resource: 'replicasets' },
    service: { kind: 'Service', resource: 'services' },
    statefulSet: { kind: 'StatefulSet', resource: 'statefulsets' },
  };

const managedBy = 'app.kubernetes.io/managed-by';

/** See {@link ViewReader.listAccountResources}. Sorted by kind, namespace and name. */
export async function listAccountResources(
  reading: CacheReading,
  account: string,
): Promise<readonly AccountResource[]> {
  const lists = await Promise.all(
    Object.entries(infrastructureKinds).map(async ([kind, names]) => {
      const facts = readAllFacts(await listObjects(reading, { account, kind }));
      const managed = facts.filter(({ labels }) => labels[managedBy]?.startsWith('spinnaker'));
      reading.addRows(managed.length);
      return managed.map((each) => ({ ...toResource(each), ...names })).sort(compareResources);
    }),
  );
  return lists.flat();
}

function toResource(facts: ObjectFacts): Omit<AccountResource, 'kind' | 'resource'> {
  const { uid, apiVersion, name, namespace, moniker } = facts;
  const slash = apiVersion.indexOf('/');
  return {
    id: uid,
    apiGroup: apiVersion.slice(0, Math.max(0, slash)),
    name,
    namespace,
    version: apiVersion.slice(slash + 1),
    spinnakerApp: moniker.app ?? '',
  };
}

function compareResources(one: AccountResource, other: AccountResource): number {
  return compareText(one.namespace, other.namespace) || compareText(one.name, other.name);
}

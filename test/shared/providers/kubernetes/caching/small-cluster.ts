import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { getNamedMoniker } from '#providers/kubernetes/rows/moniker-codec.ts';

export const registry = createKindRegistry();

/** What the objects of a small cluster differ by. */
export interface ObjectTraits {
  /** Application by annotation; left out: by the name. */
  readonly app?: string;
  /** Cluster by annotation. */
  readonly cluster?: string;
  readonly uid?: string;
  readonly namespace?: string;
}

/** An object of any kind. */
export function object(
  kind: string,
  name: string,
  { app, cluster, uid = `uid of ${name}`, namespace = 'shop' }: ObjectTraits = {},
): ObjectFacts {
  const moniker = getNamedMoniker(name);
  return {
    kind,
    spinnakerKind: registry.find(kind).spinnakerKind,
    apiVersion: 'v1',
    namespace,
    name,
    uid,
    resourceVersion: '0',
    labels: {},
    moniker: { ...moniker, ...(app !== undefined && { app }), ...(cluster !== undefined && { cluster }) },
    owners: [],
  };
}

/** A server group. */
export function replicaSet(
  name: string,
  traits: ObjectTraits & { readonly kind?: string } = {},
): ObjectFacts {
  const { kind = 'replicaSet' } = traits;
  return {
    ...object(kind, name, traits),
    apiVersion: 'apps/v1',
    workload: { images: ['cart:1'], podLabels: { app: name }, loadBalancers: [] },
  };
}

/** A pod of a server group; without an owner a pod alone. */
export function pod(
  name: string,
  owner?: string,
  traits: ObjectTraits & { readonly ownerKind?: string; readonly ownerUid?: string } = {},
): ObjectFacts {
  const { ownerKind = 'replicaSet', ownerUid = `uid of ${owner}` } = traits;
  return {
    ...object('pod', name, traits),
    owners: owner === undefined ? [] : [{ kind: ownerKind, name: owner, uid: ownerUid, isManager: false }],
    pod: { phase: 'Running', containers: [{ name: 'main', isReady: true }] },
  };
}

/** A service. */
export function service(name: string, traits: ObjectTraits = {}): ObjectFacts {
  return { ...object('service', name, traits), service: { selector: { app: name } } };
}

import type { KindRegistry } from './index.ts';
import type { KindDefinition, SpinnakerKind } from './kind.ts';
import { toKindKey } from './name.ts';

/**
 * What Spinnaker's V1 provider calls kinds. An Ingress is a security group there, and a Deployment no more than what makes a
 * ReplicaSet.
 */
const v1SpinnakerKinds: ReadonlyMap<string, SpinnakerKind> = new Map(
  (
    [
      ['ReplicationController', 'serverGroups'],
      ['replicaSet', 'serverGroups'],
      ['statefulSet', 'serverGroups'],
      ['daemonSet', 'serverGroups'],
      ['pod', 'instances'],
      ['service', 'loadBalancers'],
      ['ingress', 'securityGroups'],
      ['configMap', 'configs'],
      ['secret', 'configs'],
    ] as const
  ).map(([kind, spinnakerKind]) => [toKindKey(kind), spinnakerKind]),
);

/** The kinds of a V1 account: what is known of them is the same, but not what Spinnaker calls them. */
export function toV1KindRegistry(registry: KindRegistry): KindRegistry {
  const kinds = registry.kinds.map(toV1Kind);
  const known = new Map(kinds.map((kind) => [toKindKey(kind.name), kind]));
  return {
    ...registry,
    find: (kind) => known.get(toKindKey(kind)) ?? toV1Kind(registry.find(kind)),
    kinds,
  };
}

function toV1Kind(kind: KindDefinition): KindDefinition {
  return { ...kind, spinnakerKind: v1SpinnakerKinds.get(toKindKey(kind.name)) ?? 'unclassified' };
}

import type { KindRegistry } from './index.ts';
import type { KindDefinition, SpinnakerKind } from './kind.ts';
import { toKindKey } from './name.ts';

/** The classes of kinds in Spinnaker's V1 provider. There an Ingress is a security group, and a Deployment merely creates ReplicaSets. */
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

/** The kinds of a V1 account: the same definitions with other classes of Spinnaker's. */
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

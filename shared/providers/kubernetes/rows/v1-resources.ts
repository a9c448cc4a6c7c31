import { getBuiltInResource } from '../api/built-in-resources.ts';
import type { ApiResource } from '../api/client.ts';
import { getKindName } from '../kinds/name.ts';

/** A kind that is cached for V1 accounts. */
export interface V1CachedKind {
  /** Spinnaker's name, as the objects have it. */
  readonly kind: string;
  readonly resource: ApiResource;
  /** Whether only the metadata of its objects is ever read. */
  readonly isMetadataOnly: boolean;
}

const wholeKinds = [
  ['v1', 'ReplicationController'],
  ['apps/v1', 'ReplicaSet'],
  ['apps/v1', 'StatefulSet'],
  ['apps/v1', 'DaemonSet'],
  ['apps/v1', 'Deployment'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['v1', 'Pod'],
  ['v1', 'Service'],
  ['networking.k8s.io/v1', 'Ingress'],
] as const;

/** Kinds that users pick by name. The contents of Secrets are never read. */
const namedKinds = ['ConfigMap', 'Secret', 'ServiceAccount'] as const;

/** The kinds cached for each V1 account, whatever settings say of kinds: those that the V1 provider of Spinnaker 1.16 cached. */
export const v1CachedKinds: readonly V1CachedKind[] = [
  ...wholeKinds.map(([apiVersion, kind]) => toCachedKind(apiVersion, kind, false)),
  ...namedKinds.map((kind) => toCachedKind('v1', kind, true)),
];

function toCachedKind(apiVersion: string, kind: string, isMetadataOnly: boolean): V1CachedKind {
  const resource = getBuiltInResource(apiVersion, kind);
  return { kind: getKindName(apiVersion, kind), resource, isMetadataOnly };
}

const cachedNames = new Set(v1CachedKinds.map(({ kind }) => kind));
const wholeNames = new Set(v1CachedKinds.filter((each) => !each.isMetadataOnly).map(({ kind }) => kind));

/** Whether objects of a kind, by Spinnaker's name, are cached for V1 accounts. */
export function isCachedV1Kind(kind: string): boolean {
  return cachedNames.has(kind);
}

/** Whether objects of such a kind are kept whole. */
export function isWholeV1Kind(kind: string): boolean {
  return wholeNames.has(kind);
}
